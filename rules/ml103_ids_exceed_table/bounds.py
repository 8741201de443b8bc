"""Guards of a lookup that are written with the number of rows: do they let that number itself through?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.definitions import DefinedClass, DefinedFunction, DefinedModule, External
from modellint.graph.size import excess, is_proved
from modellint.graph.value import EventKind, Op, called_name, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.graph.value import Event, Value
    from modellint.operators import Operator
    from modellint.rule import Project

    _Called = Callable[[Value], tuple[str, bool]]

#: Operators that make other numbers of ids: a limit on their result is none on the ids.
_SHIFTS = ("+", "-", "%", "//", "*", "/")
#: Names of operators that make tables, or look something up in an operand.
_TABLES = operators.words("table") | {"Parameter", "embedding"}
#: Facets of operators whose result consists of elements of an operand, and of the arguments that may replace some.
_PASSING = frozenset(("passed", "picked", "limit", "lift", "mask", "chooses", "gathers", "contents", "element"))
_TOLD = ("limit", "lift", "fill")
#: Operations that hold their operands, those that read from one, and those through which a comparison measures one.
_HANDING = frozenset((Op.CHOICE, Op.BOOL, Op.TUPLE, Op.LIST, Op.SET, Op.DICT, Op.STARRED, Op.ITEM, Op.COMPREHENSION))
_READS = frozenset((Op.ATTR, Op.INDEX))
_MEASURED = frozenset((Op.ATTR, Op.CALL))


def may_look_up(module: ModuleFacts, project: Project) -> bool:
    """True if the names in a file, or in one that it imports from, include some of tables."""
    if _speaks_of_tables(module, project):
        return True
    return any(_speaks_of_tables(other, project) for other in _imported_modules(module, project))


def _speaks_of_tables(module: ModuleFacts, project: Project) -> bool:
    def mentions_tables() -> bool:
        origins = {str(origin).rpartition(".")[2] for origin in module.imports.values()}
        functions = (*module.all_functions(), module.body)
        return not _TABLES.isdisjoint(origins) or any(not _TABLES.isdisjoint(f.words) for f in functions)

    return project.once(("speaks of tables", module), mentions_tables)


def _imported_modules(module: ModuleFacts, project: Project) -> Iterator[ModuleFacts]:
    for name in module.imports:
        found = project.names.resolve(module, name)
        if isinstance(found, DefinedModule):
            yield found.module
        elif isinstance(found, DefinedClass):
            yield found.cls.module
        elif isinstance(found, DefinedFunction):
            yield found.function.module


def may_limit(function: Function) -> bool:
    """True if a function compares something with a value that may be a number of rows."""
    return any(_limit_of(event.value) is not None for event in function.flow.of(EventKind.COMPARE))


def direct_limits(index: Value, event: Event, module: ModuleFacts, project: Project) -> Iterator[tuple[Value, Value]]:
    """The comparisons of an index that may let the number of rows through, each with the value that it compares with.

    They are conditions on the way, and masks applied to the index. The ids are looked up as they are compared, and only
    where the comparison lets them through.
    """
    tests = [guard.test for guard in event.guard.chain()] if event.guard is not None else []
    found = {id(part): part for test in (*tests, index) for part in test.walk() if _limit_of(part) is not None}
    called = partial(_operator_called, module=module, project=project)
    parts = list(_elements(index, called)) if found else []
    project.budget.spend(len(parts))
    if any(part.op is Op.BIN and part.data in _SHIFTS for part in parts):
        return
    for compare in found.values():
        limit = _limit_of(compare)
        if limit is not None and _is_about(compare, parts, called) and _lets_through(compare, event):
            yield compare, limit


def _lets_through(compare: Value, event: Event) -> bool:
    """True if an event happens where a comparison lets the limit through."""
    for condition in event.guard.chain() if event.guard is not None else ():
        parts = list(condition.test.walk())
        if any(part is compare for part in parts):
            negated = sum(part.op is Op.UNARY and part.data in ("not", "~") for part in parts) % 2 == 1
            return (compare.data in ("<=", ">=")) is (condition.truthy is not negated)
    return True


def _is_about(compare: Value, parts: list[Value], called: _Called) -> bool:
    """True if a comparison is about a part of an index: itself, its maximum, or the same element of it."""
    known = {id(part) for part in parts}
    reads = [part for part in parts if part.op in _READS]
    return any(
        id(value) in known or (value.op in _READS and any(same(value, part) for part in reads))
        for side in compare.args
        for value in _elements(side, called, through=_MEASURED)
    )


def _elements(value: Value, called: _Called, through: frozenset[Op] | None = None) -> Iterator[Value]:
    """A value, and the values that its elements come from; `through` are the operations that are followed.

    A number of elements is none of them: the bound of a slice, the end of `arange(n)`.
    """
    seen: set[int] = set()
    queue = [value]
    for one in queue:
        if id(one) not in seen and one.op is not Op.CONST and not (one.op is Op.PARAM and one.data == "self"):
            seen.add(id(one))
            yield one
            if through is None or one.op in through:
                queue.extend(_holding(one, called))


def _holding(value: Value, called: _Called) -> Iterable[Value]:
    """The operands that the elements of a value come from."""
    if value.op in _HANDING:
        return value.args
    if value.op is Op.UPDATE:
        return (value.args[0], *value.args[1 + (value.data == "[]=") :])
    if value.op is Op.CALL:
        return _operands(value, *called(value.callee))
    if value.op is Op.ATTR:
        return value.args[1:] or (value.args if _passing(str(value.data)) else ())
    if value.op is Op.INDEX or value.op is Op.UNPACK:
        number = value.data if value.op is Op.UNPACK else value.args[1].data
        return () if number == 1 and _is_pair(value.args[0]) else value.args[:1]
    return ()


def _operands(call: Value, name: str, is_function: bool) -> Iterator[Value]:
    """The arguments of a call that its result has elements of: the limit alone where a clamp has one."""
    rows = _passing(name)
    given = call.positional if is_function else (*call.callee.args[:1], *call.positional)
    if not rows or not given:
        return
    told = {facet: argument for facet in _TOLD if (argument := _argument(facet, rows, given, call)) is not None}
    if any("chooses" in row.facets for row in rows):
        yield from given[-2:]
    elif "limit" in told:
        yield told["limit"]
    else:
        yield from given if call.callee.op is Op.GLOBAL and "extreme" in rows[0].facets else given[:1]
        yield from told.values()


def _argument(facet: str, rows: list[Operator], given: tuple[Value, ...], call: Value) -> Value | None:
    """The argument that one of the rows has a facet for; None if it is not given."""
    for position, name in (at for row in rows if (at := row.argument(facet)) is not None):
        found = call.keywords.get(name, given[position] if position < len(given) else None)
        if found is not None and not (found.op is Op.CONST and found.data is None):
            return found
    return None


def _passing(name: str) -> list[Operator]:
    """The rows of operators of a name whose result consists of elements of their operand."""
    return [row for row in operators.called(name) if not _PASSING.isdisjoint(row.facets)]


def _is_pair(value: Value) -> bool:
    """True if a value is a pair of elements and their indices: `ids.max(1)`."""
    return value.op is Op.CALL and any("pair" in row.facets for row in operators.called(called_name(value.callee)))


def _operator_called(callee: Value, module: ModuleFacts, project: Project) -> tuple[str, bool]:
    """The name of an operator that is called, empty for other callees; true for a function, false for a method."""
    if callee.op is not Op.ATTR and callee.op is not Op.GLOBAL:
        return "", False
    definition = project.names.definition(module, callee)
    if isinstance(definition, External):
        return definition.name.rpartition(".")[2], True
    return called_name(callee) if definition is None else "", callee.op is Op.GLOBAL


def _limit_of(compare: Value) -> Value | None:
    """The number that a comparison lets through, if it may be a number of rows; None if not."""
    if compare.op is not Op.COMPARE or compare.data not in (">", "<=", "<", ">="):
        return None
    limit = compare.args[compare.data in (">", "<=")]
    if limit.op is Op.CONST:
        return limit if type(limit.data) is int and limit.data > 1 else None
    return limit if limit.op in (Op.ATTR, Op.GLOBAL, Op.PARAM) else None


def is_as_large(rows: Size, limit: Value, size_of: Callable[[Value], Size | None]) -> bool:
    """True if a limit is the number of rows itself."""
    size = size_of(limit)
    return size is not None and excess(size, rows) == 0 and (is_proved(size, rows) or limit.op is Op.CONST)
