"""Which widths take what a table gives: the layers that its rows run into, and the tensors that they are added to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import Event, EventKind, Op, Value, are_exclusive, self_attribute
from modellint.link.values.evaluator import Located
from modellint.link.values.facts import FactKind
from modellint.link.values.heads import operand_of, whole_number
from modellint.link.values.shapes import OWN_WIDTH, input_width
from modellint.link.values.table_users import users
from modellint.link.values.torch_api import SAME_WIDTH_LAYERS, operator_of, sizes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.size import Size
    from modellint.link.project import Project
    from modellint.link.values.arrivals import Arrival
    from modellint.link.values.evaluator import Frame
    from modellint.link.values.tables import Table

#: How many calls rows are followed into.
_MAX_CALLS = 2
_MAX_DEPTH = 16

#: What takes tensors whose last dimension is as wide as it says; channels of convolutions come first.
_TAKES = operators.arguments("width") | OWN_WIDTH


@dataclass(frozen=True, eq=False)
class Taker:
    """A layer (or a sum) at `located` takes rows of `width`."""

    width: Size
    located: Located


def takers(table: Table, frame: Frame, project: Project) -> Iterator[Taker]:
    """What takes the rows that a table gives, in the functions of its file and in what they call."""
    for function in users(table, frame, project):
        given = [lookup.event.value for lookup in project.tables.lookups_in(table, function)]
        if given:
            yield from _Rows(given, project.evaluator.root(function), project).taken()


def takers_of_index(arrival: Arrival, width: Size, project: Project) -> Iterator[Event]:
    """The layers that take the tensor which indexes a table, for as wide as `width`, on a path that both share."""
    fact, frame = arrival.fact, arrival.frame
    if fact.kind is not FactKind.PARAMETER or fact.changed or arrival.calls:
        return
    for event in frame.function.flow.of(EventKind.CALL):
        given = event.value.argument(0, "input")
        if self_attribute(event.value.callee) is None or given is None:
            continue
        if are_exclusive(event.guard, arrival.event.guard):
            continue
        if width in (input_width(layer, project) for layer in project.evaluator.instances(event.value.callee, frame)):
            facts = project.facts.facts(given, frame)
            if any(other.parameter == fact.parameter and not other.changed for other in facts):
                yield event


class _Rows:
    """Follows what lookups give (or a parameter) through one function."""

    def __init__(self, given: list[Value], frame: Frame, project: Project, calls: int = 0) -> None:
        self._frame = frame
        self._project = project
        self._calls = calls
        self._carries = {id(value): True for value in given}

    def taken(self) -> Iterator[Taker]:
        for part in _parts(self._frame, self._project):
            if part.op is Op.BIN and part.data in ("+", "-"):
                yield from self._added(part)
            elif part.op is Op.CALL:
                yield from self._passed(part)

    def _added(self, part: Value) -> Iterator[Taker]:
        left, right = part.args
        if self._carried(left) is self._carried(right):
            return
        width = self._width(right if self._carried(left) else left)
        if width is not None:
            yield Taker(width, Located(part, self._frame))

    def _passed(self, call: Value) -> Iterator[Taker]:
        if not any(self._carried(arg) for arg in call.args[1:]):
            return
        target = self._project.evaluator.target(call, self._frame)
        layer, inner = target.layer, target.frame
        if inner is not None:
            if self._calls < _MAX_CALLS and not self._project.evaluator.is_recursive(inner):
                for name, argument in inner.arguments.items():
                    if self._carried(argument):
                        yield from self._inside(name, inner)
        elif layer is not None and layer.call is not None and layer.frame is not None and layer.external in _TAKES:
            given = call.argument(0, "input")
            width = self._project.evaluator.size(layer.call.argument(*_TAKES[layer.external]), layer.frame)
            if width is not None and given is not None and self._carried(given):
                yield Taker(width, Located(call, self._frame))

    def _inside(self, name: str, inner: Frame) -> Iterator[Taker]:
        parameter = next(
            (part for part in _parts(inner, self._project) if part.op is Op.PARAM and part.data == name), None
        )
        if parameter is not None:
            yield from _Rows([parameter], inner, self._project, self._calls + 1).taken()

    def _carried(self, value: Value, depth: int = 0) -> bool:
        """Whether a value is as wide as what is followed, since it is that, or made from it element by element."""
        known = self._carries.get(id(value))
        if known is None:
            self._carries[id(value)] = False  # a loop's variable
            known = self._carries[id(value)] = depth < _MAX_DEPTH and self._made_of(value, depth + 1)
        return known

    def _made_of(self, value: Value, depth: int) -> bool:
        match value.op:
            case Op.CHOICE:
                return any(self._carried(arg, depth) for arg in value.args)
            case Op.BIN if value.data in ("+", "-", "*", "/"):
                return any(self._carried(arg, depth) for arg in value.args)
            case Op.CALL:
                target = self._project.evaluator.target(value, self._frame)
                given = operand_of(target, value)
                if given is None or not self._carried(given, depth):
                    return False
                if target.layer is not None:
                    return target.layer.external in SAME_WIDTH_LAYERS
                row = operator_of(target)
                return row is not None and "same-shape" in row.facets
            case _:
                return False

    def _width(self, value: Value, depth: int = 0) -> Size | None:
        """How wide a tensor is that rows are added to; where it is joined or chosen of several, one of them tells."""
        if depth > _MAX_DEPTH:
            return None
        found = self._project.facts.heads.classes(value, self._frame)
        if len(found) == 1:
            return found[0][0]
        match value.op:
            case Op.CHOICE:
                return self._agreed(value.args, depth)
            case Op.BIN:
                return self._agreed(value.args, depth)
            case Op.ATTR:
                return self._learned(value)
            case Op.CALL:
                return self._made(value, depth)
            case _:
                return None

    def _agreed(self, values: tuple[Value, ...], depth: int) -> Size | None:
        widths = {width for value in values if (width := self._width(value, depth + 4)) is not None}
        return widths.pop() if len(widths) == 1 else None

    def _learned(self, value: Value) -> Size | None:
        """The last size of a parameter: `nn.Parameter(torch.zeros(1, width))`."""
        evaluator = self._project.evaluator
        for stored in evaluator.attribute(value, self._frame):
            made = stored.value
            while made.op is Op.CALL and made.positional and not _is_number(made.positional[0]):
                if self._sizes(made, stored.frame):
                    break
                made = made.positional[0]
            sizes = self._sizes(made, stored.frame)
            if sizes:
                return evaluator.size(sizes[-1], stored.frame)
        return None

    def _sizes(self, made: Value, frame: Frame) -> tuple[Value, ...] | None:
        name = self._project.evaluator.external_name(made.callee, frame.module) if made.op is Op.CALL else None
        return None if name is None else sizes_of(name, made)

    def _made(self, call: Value, depth: int) -> Size | None:
        table = self._project.tables.of_value(call.callee, self._frame)
        if table is not None and table.columns is not None:
            return self._project.evaluator.size(table.columns.value, table.columns.frame)
        target = self._project.evaluator.target(call, self._frame)
        row, operand = operator_of(target), operand_of(target, call)
        if row is None or operand is None:
            return None
        if "joins" in row.facets or "stacks" in row.facets:
            dim = call.argument(1, "dim")
            is_last = dim is not None and not (dim.op is Op.CONST and dim.data in (0, 1))
            return None if is_last or operand.op not in (Op.LIST, Op.TUPLE) else self._agreed(operand.args, depth)
        is_whole = "sizes" in row.facets and bool(call.positional) and _is_whole(call.positional[-1])
        keeps = "same-shape" in row.facets or (is_whole and target.method == "expand")
        return self._width(operand, depth + 1) if keeps else None


def _is_number(value: Value) -> bool:
    return value.op in (Op.CONST, Op.PARAM, Op.ATTR, Op.BIN)


def _is_whole(value: Value) -> bool:
    """`-1`, which leaves a dimension as it is."""
    return whole_number(value) == -1


def _parts(frame: Frame, project: Project) -> Iterator[Value]:
    """Every value of a function, each once."""
    seen: set[int] = set()
    queue = [event.value for event in frame.function.flow.events]
    project.budget.spend(len(queue))
    for part in queue:
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            queue.extend(part.args)
