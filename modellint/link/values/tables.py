"""Tables that ids look up: embeddings, and how many rows they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import EventKind, Op, Value
from modellint.link.values.evaluator import Evaluator, Frame, Instance, Located

if TYPE_CHECKING:
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


class Tables:
    """Finds tables; one per project."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

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
        if found.cls is None:
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
