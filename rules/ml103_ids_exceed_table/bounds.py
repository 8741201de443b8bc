"""Guards of a lookup that are written with the number of rows: do they let that number itself through?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.size import excess, is_proved
from modellint.graph.value import EventKind, Op
from modellint.link.names import DefinedClass, DefinedFunction, DefinedModule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.graph.value import Event, Value
    from modellint.link.budget import Budget
    from modellint.link.project import Project

#: What makes other numbers of ids, so that a limit on those says nothing of these.
_SHIFTS = ("+", "-", "%", "//", "*", "/")
#: What makes tables, or looks something up in what it is given.
_TABLES = operators.words("table") | {"Parameter", "embedding"}
#: Facets of operators that give elements of what they are given.
_PASSING = frozenset(
    ("passed", "picked", "limit", "below", "lift", "mask", "chooses", "gathers", "contents", "element")
)
#: What tells the form of a tensor and nothing of its elements.
_FORM = frozenset(("training", "config", "numel")) | operators.attributes("Tensor", "gives")
_FORM |= operators.methods("Tensor", "gives:size", "gives:int", "gives:bool", "gives:tuple")


def may_look_up(module: ModuleFacts, project: Project) -> bool:
    """Whether a file, or one that it imports from, speaks of tables."""
    if _speaks_of_tables(module, project):
        return True
    return any(_speaks_of_tables(other, project) for other in _imported(module, project))


def _speaks_of_tables(module: ModuleFacts, project: Project) -> bool:
    def found() -> bool:
        origins = {str(origin).rpartition(".")[2] for origin in module.imports.values()}
        functions = (*module.all_functions(), module.body)
        return not _TABLES.isdisjoint(origins) or any(not _TABLES.isdisjoint(f.words) for f in functions)

    return project.once(("speaks of tables", module), found)


def _imported(module: ModuleFacts, project: Project) -> Iterator[ModuleFacts]:
    for name in module.imports:
        found = project.names.resolve(module, name)
        if isinstance(found, DefinedModule):
            yield found.module
        elif isinstance(found, DefinedClass):
            yield found.cls.module
        elif isinstance(found, DefinedFunction):
            yield found.function.module


def may_limit(function: Function) -> bool:
    """Whether a function compares something with what may be a number of rows."""
    return any(_limit_of(event.value) is not None for event in function.flow.of(EventKind.COMPARE))


def is_direct(index: Value, compare: Value, event: Event, module: ModuleFacts) -> bool:
    """Whether the ids are looked up as they are compared, and only where the comparison lets them through."""
    if any(part.op is Op.BIN and part.data in _SHIFTS for part in index.walk()) or not _is_about_elements(
        compare, index, module
    ):
        return False
    for condition in event.guard.chain() if event.guard is not None else ():
        parts = list(condition.test.walk())
        if any(part is compare for part in parts):
            negated = sum(part.op is Op.UNARY and part.data in ("not", "~") for part in parts) % 2 == 1
            return (compare.data in ("<=", ">=")) is (condition.truthy is not negated)
    return True


def _is_about_elements(compare: Value, index: Value, module: ModuleFacts) -> bool:
    """Whether a comparison is about ids, rather than how many there are: the last id of `arange(n)` is n - 1."""
    return _is_about(compare, {id(part): part for part in _passed_on(index, module) if part.op is not Op.CONST})


def _passed_on(index: Value, module: ModuleFacts) -> Iterator[Value]:
    """What the elements of an index are elements of."""
    seen: set[int] = set()
    queue = [index]
    for value in queue:
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if value.op is not Op.CALL:
            queue.extend(value.args)
        elif _passes(value.callee, module):
            queue.extend((*value.callee.args[:1], *value.args[1:]))


def _passes(callee: Value, module: ModuleFacts) -> bool:
    """Whether what is called gives elements of what it is given."""
    if callee.op is not Op.ATTR and callee.op is not Op.GLOBAL:
        return False
    origin = module.imports.get(callee.data) if callee.op is Op.GLOBAL else None
    name = str(callee.data if origin is None else origin).rpartition(".")[2]
    return any(not _PASSING.isdisjoint(row.facets) for row in operators.called(name))


def limits(index: Value, event: Event, budget: Budget) -> Iterator[tuple[Value, Value]]:
    """The comparisons of an index that guard its lookup, each with what may be the number of rows that it lets through.

    They are conditions on the way, and masks applied to the index.
    """
    tests = [guard.test for guard in event.guard.chain()] if event.guard is not None else []
    found = {id(part): part for test in (*tests, index) for part in test.walk() if _limit_of(part) is not None}
    parts = _parts_of(index) if found else {}
    budget.spend(len(parts))
    for compare in found.values():
        limit = _limit_of(compare)
        if limit is not None and _is_about(compare, parts):
            yield compare, limit


def _limit_of(compare: Value) -> Value | None:
    """The number that a comparison lets through to a table, if it is one that may be its number of rows."""
    if compare.op is not Op.COMPARE or compare.data not in (">", "<=", "<", ">="):
        return None
    limit = compare.args[compare.data in (">", "<=")]
    if limit.op is Op.CONST:
        return limit if type(limit.data) is int and limit.data > 1 else None
    return limit if limit.op in (Op.ATTR, Op.GLOBAL, Op.PARAM) else None


def is_as_large(rows: Size, limit: Value, size_of: Callable[[Value], Size | None]) -> bool:
    """Whether a limit is the number of rows itself."""
    size = size_of(limit)
    return size is not None and excess(size, rows) == 0 and (is_proved(size, rows) or limit.op is Op.CONST)


def _parts_of(value: Value) -> dict[int, Value]:
    return {id(part): part for part in value.walk() if part.op is not Op.CONST}


def _is_about(compare: Value, parts: dict[int, Value]) -> bool:
    """Whether a comparison is about one of the parts: itself, its maximum, or the same element of it."""
    for arg in compare.args:
        for value in _compared(arg):
            if id(value) in parts:
                return True
            if value.op is Op.INDEX and any(_same_element(value, part) for part in parts.values()):
                return True
    return False


def _same_element(value: Value, other: Value) -> bool:
    return (
        other.op is Op.INDEX
        and value.args[0] is other.args[0]
        and value.args[1].op is other.args[1].op is Op.CONST
        and value.args[1].data == other.args[1].data
    )


def _compared(value: Value) -> Iterator[Value]:
    """What a comparison is about: the value itself, or what it takes the maximum or minimum of.

    One element of several (`ids[0]`) speaks only for itself, and a shape not of elements at all.
    """
    while True:
        if value.op is Op.PARAM and value.data == "self":
            return
        if value.op is Op.ATTR and (value.data in _FORM or len(value.args) > 1):
            if value.data not in _FORM:
                yield value.args[1]
            return
        yield value
        if value.op is Op.CALL and value.callee.op is not Op.ATTR:
            if value.callee.data != "len":
                yield from value.positional
            return
        if value.op not in (Op.CALL, Op.ATTR):
            return
        value = value.args[0]
