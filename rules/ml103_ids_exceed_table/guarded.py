"""Functions that limit the ids that they look up, run with unknown arguments: their look-ups and their clamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.definitions import DefinedClass, DefinedFunction
from modellint.graph.immutable import dataclass
from modellint.graph.size import Size
from modellint.graph.value import EventKind, Op, called_name, is_argument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.operators import Operator
    from modellint.rule import Project

#: Names of operators that limit elements from above by an argument `max`.
_CLAMPS = operators.words("limit:max@2", "limit:max@1")
_GIVEN = frozenset((EventKind.RETURN, EventKind.YIELD))
_TAKING = frozenset((EventKind.CALL, EventKind.INDEX))
_CONSTRUCTOR = "__init__"
#: Arithmetic, and facets of operators, after which an id is none any more.
_COMPUTING = frozenset(("*", "/", "@", "**"))
_REDUCING = frozenset(("reduces", "real", "product"))
_KEEPING = frozenset(("passed", "picked", "pair"))


@dataclass(frozen=True, slots=True)
class Clamped(queries.Ids):
    """Elements of which only a clamp's limit is known: 0 … `bound` - 1.

    `is_told`: the limit is an argument of the function that clamps.
    """

    is_told: bool = False


class _Clamping(queries.Theory):
    """The transfer functions of clamps: elements of which the run knows the limit."""

    def __init__(self, run: queries.Interpreter) -> None:
        self._run = run

    def method(
        self, atom: queries.Atom, name: str, arguments: queries.Arguments, frame: queries.Frame, value: Value
    ) -> queries.Atoms | None:
        row = operators.row(f"Tensor.{name}")
        size = None if row is None else _limit(row, 1, arguments)
        if row is None or size is None:
            return None
        found = self._run.of(queries.Tensors).method(atom, name, arguments, frame, value)
        return _ids_below(row, size, found, queries.Site(value, frame.function))

    def function(
        self, name: str, arguments: queries.Arguments, frame: queries.Frame, value: Value
    ) -> queries.Atoms | None:
        row = operators.row(name) or operators.row(name.removeprefix("torch."))
        size = None if row is None else _limit(row, 0, arguments)
        if row is None or size is None:
            return None
        found = self._run.of(queries.Tensors).function(name, arguments, frame, value)
        return _ids_below(row, size, found, queries.Site(value, frame.function))


def _limit(row: Operator, first: int, arguments: queries.Arguments) -> Size | None:
    """The limit of an operator whose arguments begin at position `first`."""
    limit = row.argument("limit")
    return None if limit is None else queries.size_of(arguments.argument(limit[0] - first, limit[1]))


def _ids_below(row: Operator, size: Size, found: queries.Atoms | None, made: queries.Site) -> queries.Atoms | None:
    """The result of an operator: ids up to its limit, unless more is known."""
    if any(tensor.ids or tensor.real for tensor in queries.tensors_in(found or ())):
        return found
    others = tuple(atom for atom in found or () if not isinstance(atom, queries.Tensor | queries.Plain))
    written = _written(made.value, row, "limit")
    is_told = written is None or any(map(is_argument, written.walk()))
    return queries.join([others, (queries.Tensor(ids=Clamped(size + Size.of(1), made, None, is_told=is_told)),)])


def _written(call: Value, row: Operator, facet: str) -> Value | None:
    """The expression for the argument of a call that a facet names: its limit, or the ids that pick elements."""
    argument = row.argument(facet)
    if argument is None or call.op is not Op.CALL:
        return None
    return call.argument(argument[0] - row.name.startswith("Tensor."), argument[1])


class Guarded:
    """Runs functions that limit the ids that they look up, with unknown arguments."""

    def __init__(self, functions: Iterable[Function], project: Project) -> None:
        self._run = queries.run(project, queries.Lookups, _Clamping)
        self._found = self._run.theory
        self._found.collects_all = True
        self._run.follow(*functions)

    @property
    def lookups(self) -> Iterator[tuple[queries.OwnLookup, Event, Function]]:
        """Their own look-ups, each with its event and function."""
        for one in list(self._found.own.values()):
            events = (
                (e, frame.function) for frame in self._found.roots for e in frame.flow.events if e.value is one.call
            )
            event, function = next(events, (None, None))
            if event is not None and function is not None:
                yield one, event, function

    @property
    def clamped_lookups(self) -> Iterator[tuple[queries.Lookup, Clamped]]:
        """The look-ups of ids whose bound is known from a clamp alone."""
        for lookup in self._found.found.values():
            if isinstance(lookup.element, Clamped) and not lookup.is_conditional:
                yield lookup, lookup.element

    def size(self, value: Value, function: Function) -> Size | None:
        """The number that a value of a function comes to; None if it isn't the same in all runs."""
        frames = (frame for frame in self._found.roots if frame.function is function)
        found = {queries.size_of(self._run.evaluate(value, frame)) for frame in frames}
        return found.pop() if len(found) == 1 else None


# -- functions that are worth a run ------------------------------------------------------------------------------------


def clamping(module: ModuleFacts, project: Project) -> list[Function]:
    """The functions of a file that clamp ids, themselves or by a call, and may look them up."""
    own = list(module.all_functions())
    found = {function: None for function in own if _clamps(function, hands_on=True)}
    giving = {function.name for function in own if _clamps(function, hands_on=False)}
    flow = queries.flow(module, project)
    for word, definition in flow.imported():
        if isinstance(definition, DefinedFunction) and _clamps(definition.function, hands_on=False):
            giving.add(word)
        elif isinstance(definition, DefinedClass):
            giving |= {name for name, method in definition.cls.methods.items() if _clamps(method, hands_on=False)}
    giving.discard(_CONSTRUCTOR)
    pending = [function for function in own if giving and function not in found]
    before = -1
    while before < (before := len(giving)):
        speaking = [function for function in pending if not function.words.isdisjoint(giving)]
        giving |= {f.name for f in speaking if f.name != _CONSTRUCTOR and _is_given(f, giving, hands_on=False)}
    found.update(dict.fromkeys(f for f in pending if _is_given(f, giving, hands_on=True)))
    return [function for function in found if flow.may_look_up(function)]


def _clamps(function: Function, *, hands_on: bool) -> bool:
    """True if a function may pass or index with what it clamps (`hands_on`), or return it."""
    if _CLAMPS.isdisjoint(function.words):
        return False
    calls = {id(event.value) for event in function.flow.of(EventKind.CALL) if _has_limit(event.value)}
    if not calls:
        return False
    return any(id(part) in calls for value in _values_leaving(function, hands_on) for part in _passed_on(value))


def _is_given(function: Function, names: set[str], *, hands_on: bool) -> bool:
    """True if a function passes or indexes with the result of a function named so (`hands_on`), or returns it."""
    if function.words.isdisjoint(names):
        return False
    parts = (part for value in _values_leaving(function, hands_on) for part in _passed_on(value))
    return any(part.op is Op.CALL and called_name(part.callee) in names for part in parts)


def _values_leaving(function: Function, hands_on: bool) -> Iterator[Value]:
    """The values that leave a function: arguments and indices (`hands_on`), or returned values."""
    for event in function.flow.events:
        if hands_on and event.kind in _TAKING:
            yield from event.value.args[1:]
        elif not hands_on and event.kind in _GIVEN:
            yield event.value


def _passed_on(value: Value) -> Iterator[Value]:
    """A value and those of its parts whose elements may be among its own."""
    seen: set[int] = set()
    pending = [value]
    while pending:
        part = pending.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            pending += _operands(part)


def _operands(value: Value) -> tuple[Value, ...]:
    """The operands whose elements may be among the value's: none of `ratio * advantage`, `loss.mean()` or `a == b`.

    Indices only pick elements: `tokens[ids]`, `tokens.gather(1, ids)`.
    """
    if value.op is Op.INDEX:
        return value.args[:1]
    if value.op is Op.COMPARE or (value.op is Op.BIN and str(value.data) in _COMPUTING):
        return ()
    if value.op is not Op.CALL:
        return value.args
    rows = operators.called(called_name(value.callee))
    rows = [row for row in rows if value.callee.op is not Op.ATTR or not row.name.startswith("builtins.")]
    if rows and all(map(_leaves_no_element, rows)):
        return ()
    indices = [_written(value, row, "ids") for row in rows]
    return tuple(arg for arg in value.args if all(arg is not index for index in indices))


def _leaves_no_element(row: Operator) -> bool:
    if row.facets.get("like") in _COMPUTING:
        return True
    return bool(row.facets.keys() & _REDUCING) and row.facets.keys().isdisjoint(_KEEPING)


def _has_limit(call: Value) -> bool:
    """True if a call clamps to a value that may be a number of rows."""
    written = (_written(call, row, "limit") for row in operators.called(called_name(call.callee)))
    limits = (limit for limit in written if limit is not None)
    return any(not _is_real(limit) and (limit.op is not Op.CONST or limit.data > 1) for limit in limits)


def _is_real(limit: Value) -> bool:
    """True for a number that is no whole one, as in `ratio.clamp(1.0 - eps, 1.0 + eps)`, and for what is no number.

    `torch.finfo(dtype).max` is such a number, wherever it stands in the expression.
    """
    if limit.op is Op.BIN:
        return limit.data == "/" or any(map(_is_real, limit.args))
    if limit.op is Op.CONST:
        return type(limit.data) is not int
    return any(part.op is Op.CALL and called_name(part.callee) == "finfo" for part in limit.walk())
