"""Tables that ids look up: embeddings and codebooks, how many rows they have, and where they are indexed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import Event, EventKind, Op, Value
from modellint.link.values.evaluator import Evaluator, Frame, Instance, Located
from modellint.link.values.torch_api import KEEPING_ORDER, sizes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Function
    from modellint.graph.size import Size

#: The layers that are tables, and where their constructors take `padding_idx`.
EMBEDDINGS = operators.arguments("padding")


@dataclass(eq=False, slots=True)
class Table:
    """A table, built by `call` in `frame`; `rows` and `columns` size it, as near to the call as they are known."""

    call: Value
    frame: Frame
    rows: Located
    columns: Located | None
    #: The class that makes it: `Embedding`, or a project's subclass.
    kind: str
    padding: Located | None = None


@dataclass(eq=False, slots=True)
class Lookup:
    """`index` indexes `table` at `event`, in `frame`. `table` is None for a position table (`cos[position_ids]`)."""

    event: Event
    table: Table | None
    index: Value
    frame: Frame


class Tables:
    """Finds tables and lookups; one per project."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._lookups: dict[Function, tuple[Lookup, ...]] = {}

    def rows(self, table: Table) -> Size | None:
        """How many rows a table has."""
        return self.evaluator.size(table.rows.value, table.rows.frame)

    def of_value(self, value: Value, frame: Frame) -> Table | None:
        """The table that a value is, if it can be nothing else."""
        instances = self.evaluator.instances(value, frame)
        tables = [self.of_instance(instance) for instance in instances]
        if not tables or any(table is None for table in tables):
            return None
        first, *rest = tables
        if any(other is not None and other.call is not first.call for other in rest if first is not None):
            return None
        return first

    def of_instance(self, instance: Instance, depth: int = 0) -> Table | None:
        """The table that an object is, or that a `Sequential` begins with."""
        if instance.call is None or instance.frame is None:
            return None
        if instance.external == "torch.nn.Sequential" and depth < 3:
            parts = self.evaluator.contained(instance.call, instance.frame)
            if not parts:
                return None
            inner = self.evaluator.instances(parts[0].value, parts[0].frame)
            return self.of_instance(inner[0], depth + 1) if len(inner) == 1 else None
        return self._embedding(instance.call, instance.frame)

    def _embedding(self, call: Value, frame: Frame) -> Table | None:
        found = self.evaluator.constructed(call, frame)
        if found is None:
            return None
        if found.external is not None:
            padding_at = EMBEDDINGS.get(found.external)
            if padding_at is None:
                return None
            return self._from_arguments(call, frame, Located(call, frame), found.name, padding_at)
        if found.cls is None or not self.evaluator.project.relevance.may_be_embedding(found.cls):
            return None
        padding_at = EMBEDDINGS.get(self.evaluator.project.members.library_base(found.cls) or "")
        if padding_at is None:
            return None
        forward = self.evaluator.project.members.method(found.cls, "forward")
        if forward is not None and not _passes_on(forward):
            return None
        passed = self.evaluator.passed_to_base(found)
        if passed is None:
            return None
        return self._from_arguments(call, frame, passed, found.name, padding_at)

    def _from_arguments(
        self, call: Value, frame: Frame, sizes: Located, kind: str, padding_at: tuple[int, str]
    ) -> Table | None:
        """The table that `call` builds, whose library constructor gets the arguments of `sizes`."""
        rows = self._argument(sizes, 0, "num_embeddings")
        if rows is None:
            return None
        columns = self._argument(sizes, 1, "embedding_dim")
        return Table(call, frame, rows, columns, kind, self._argument(sizes, *padding_at))

    def _argument(self, sizes: Located, position: int, name: str) -> Located | None:
        """An argument of a constructor, followed out of the constructors of subclasses."""
        value = sizes.value.argument(position, name)
        if value is None:
            return None
        located = Located(value, sizes.frame)
        while located.value.op is Op.PARAM:
            bound = self.evaluator.argument(located.value, located.frame)
            if bound is None:
                break
            located = bound
        return located

    # -- lookups ----------------------------------------------------------------------------------------------------

    def lookups(self, frame: Frame) -> Iterable[Lookup]:
        """Where a function's body looks something up in a table."""
        if frame is not self.evaluator.root(frame.function):
            return self._found(frame)
        known = self._lookups.get(frame.function)
        if known is None:
            known = self._lookups[frame.function] = tuple(self._found(frame))
        return known

    def _found(self, frame: Frame) -> Iterator[Lookup]:
        names = self.evaluator.project.relevance.lookup_names(frame.module)
        for event in frame.function.flow.events:
            if event.kind is EventKind.CALL:
                callee = event.value.callee
                if callee.op is Op.ATTR and callee.data not in names:
                    continue
                found = self._called(event, frame)
            elif event.kind is EventKind.INDEX:
                found = self._indexed(event, frame)
            else:
                continue
            if found is not None:
                yield found

    def _called(self, event: Event, frame: Frame) -> Lookup | None:
        call = event.value
        if call.callee.op is Op.GLOBAL:
            return None
        if call.callee.op is Op.ATTR and call.callee.data == "embedding":
            name = self.evaluator.external_name(call.callee, frame.module)
            if name == "torch.nn.functional.embedding":
                index, weight = call.argument(0, "input"), call.argument(1, "weight")
                table = self._weight(weight, frame) if weight is not None else None
                return Lookup(event, table, index, frame) if table is not None and index is not None else None
        index = call.argument(0, "input")
        if index is None:
            return None
        table = self.of_value(call.callee, frame)
        return None if table is None else Lookup(event, table, index, frame)

    def _indexed(self, event: Event, frame: Frame) -> Lookup | None:
        base, index = event.value.args
        if index.op in (Op.SLICE, Op.CONST, Op.TUPLE, Op.ITEM, Op.UNARY):
            return None
        if self.is_position_table(base, frame):
            return Lookup(event, None, index, frame)
        table = self._weight(base, frame)
        return None if table is None else Lookup(event, table, index, frame)

    def is_position_table(self, value: Value, frame: Frame, depth: int = 0) -> bool:
        """Whether a value is a table of cosines or sines, or may be one: a parameter of a function not called yet."""
        if depth > 12:
            return False
        match value.op:
            case Op.PARAM if value.data != "self":
                bound = self.evaluator.argument(value, frame)
                if bound is not None:
                    return self.is_position_table(bound.value, bound.frame, depth + 1)
                return frame.caller is None and value.data in ("cos", "sin")
            case Op.UNPACK | Op.ITEM:
                return self.is_position_table(value.args[0], frame, depth + 1)
            case Op.CALL:
                callee = value.callee
                if callee.op is Op.ATTR and callee.data in ("cos", "sin"):
                    return True
                if callee.op is Op.ATTR and callee.data in KEEPING_ORDER:
                    return self.is_position_table(callee.args[0], frame, depth + 1)
                return any(
                    self._holds_cosines(located.value, located.frame, depth + 1)
                    for located in self.evaluator.returns(value, frame)
                )
            case Op.ATTR:
                stored = self.evaluator.attribute(value, frame)
                return any(self._holds_cosines(located.value, located.frame, depth + 1) for located in stored)
            case Op.INDEX if value.args[1].op in (Op.SLICE, Op.TUPLE, Op.CONST):
                return self.is_position_table(value.args[0], frame, depth + 1)
            case _:
                return False

    def _holds_cosines(self, value: Value, frame: Frame, depth: int) -> bool:
        parts = value.args if value.op is Op.TUPLE else (value,)
        return any(self.is_position_table(part, frame, depth) for part in parts)

    def _weight(self, value: Value, frame: Frame) -> Table | None:
        """The table behind a weight: `self.embed.weight`, or a parameter or buffer made by a factory."""
        if value.op is not Op.ATTR:
            return None
        if value.data == "weight":
            table = self.of_value(value.args[0], frame)
            if table is not None:
                return table
        stored = self.evaluator.attribute(value, frame)
        tables = [self._factory(located) for located in stored]
        return tables[0] if len(tables) == 1 else None

    def _factory(self, located: Located) -> Table | None:
        value, frame = located.value, located.frame
        name = self.evaluator.external_name(value.callee, frame.module) if value.op is Op.CALL else None
        data = value.argument(0, "data") if name == "torch.nn.Parameter" else None
        if data is not None:
            inner = self._factory(Located(data, frame))
            return None if inner is None else Table(value, frame, inner.rows, inner.columns, "Parameter")
        sizes = None if name is None else sizes_of(name, value)
        if sizes is None or len(sizes) != 2:
            return None
        return Table(value, frame, Located(sizes[0], frame), Located(sizes[1], frame), "codebook")


def _passes_on(forward: Function) -> bool:
    """Whether a subclass's own `forward` looks up what it is given, whatever else it does."""
    first = forward.argument_names[:1]
    return any(
        event.guard is None
        and event.value.callee.op is Op.ATTR
        and event.value.callee.data == "forward"
        and event.value.positional[:1]
        and event.value.positional[0].op is Op.PARAM
        and [event.value.positional[0].data] == first
        for event in forward.flow.of(EventKind.CALL)
    )
