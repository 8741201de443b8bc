"""Ways on which gradients go backward through the values of a function, and through its calls of other functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.shapes.saved import base_of
from modellint.graph.definitions import DefinedFunction, External
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.values.members import Members
from modellint.operators.shapes import shape_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from modellint.flow.domain import Site
    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.link.project import Project

#: Methods, functions and attributes through which no gradient goes.
_CUTTING = frozenset(
    "data grad detach item tolist numpy argmax argmin argsort indices multinomial size shape device dtype dim ndim "
    "unique nonzero".split()
)
#: The most steps from a view to the tensor that it shares.
_MAX_VIEWS = 12
#: Expressions that give a part of a value, or one of several; the most of them that are looked at.
_OF_PARTS, _MAX_PARTS = frozenset((Op.ATTR, Op.INDEX, Op.ITEM, Op.UNPACK, Op.CHOICE, Op.UPDATE)), 40
_RETURNS = (EventKind.RETURN, EventKind.YIELD)
#: The most calls around a function that is looked at for where gradients go.
_MAX_DEPTH = 3
#: Any element of what a function returns.
_ANY = frozenset((None,))


def changed_values(changing: Value) -> list[Value]:
    """The expression that changes a tensor, the tensor, and those that it is a view of."""
    found = [changing]
    is_function = changing.op is Op.CALL and base_of(changing) is None
    before = changing.argument(0, "input") if is_function else changing.args[0] if changing.op is Op.INDEX else None
    value = base_of(changing) if before is None else before
    while value is not None and len(found) < _MAX_VIEWS:
        found.append(value)
        value = base_of(value)
    return found


def goes_on(steps: tuple[Site, ...], site: Site, kept: Iterable[Site], ends: Iterable[Value], project: Project) -> bool:
    """True if gradients go from any of the `ends` in a function to what is changed at a site, and what keeps that.

    `steps` are the calls that lead from the function to the site.
    """
    passed: dict[int, AbstractSet[int | None]] = {}
    inner = changed_values(site.value)
    places = (*steps, site)[1:]
    for step, place in zip(reversed(steps), reversed(places), strict=True):
        function = place.function
        if function is None:
            return False
        elements = _elements(function, inner, passed, project)
        if elements:
            passed[id(step.value)] = elements
            inner = [step.value]
        elif inner[-1].op is Op.PARAM:
            inner = [step.value, *step.value.positional, *step.value.keywords.values()]
        else:
            return False
    root = (*steps, site)[0].function
    keepers = [one.value for one in kept if one.function is root]
    for end in ends:
        reached = _ways(end, root, passed, project)
        if any(id(one) in reached for one in inner) and all(id(one) in reached for one in keepers):
            return True
    return False


def is_of_option(steps: tuple[Site, ...], site: Site) -> bool:
    """True if what is changed at a site is part of an optional argument of the function that the `steps` begin in.

    Such as a cache, which is only there where nothing is trained. An argument of a function inside may be one.
    """
    held = _parts_of(changed_values(site.value)[-1])
    for step, place in zip(reversed(steps), reversed((*steps, site)[1:]), strict=True):
        names = [] if place.function is None else place.function.argument_names
        given = (
            step.value.argument(names.index(one.data), one.data)
            for one in held
            if one.op is Op.PARAM and one.data in names and step.value.op is Op.CALL
        )
        held = [part for value in given if value is not None for part in _parts_of(value)]
    function = (*steps, site)[0].function
    optional = {one.name for one in (() if function is None else function.parameters) if _is_none(one.default)}
    return any((one.op is Op.PARAM and one.data in optional) or one.op is Op.INNER for one in held)


def _parts_of(value: Value) -> list[Value]:
    """The values that a value is a part of, and what it is asked of."""
    found: list[Value] = []
    pending = [value]
    while pending and len(found) < _MAX_PARTS:
        one = pending.pop()
        found.append(one)
        if one.op in _OF_PARTS:
            pending += one.args
        elif one.op is Op.CALL:
            pending += [one.callee, *(arg for arg in one.args[1:] if arg.op in (Op.PARAM, Op.INNER))]
    return found


def _is_none(default: Value | None) -> bool:
    return default is not None and default.op is Op.CONST and default.data is None


def _elements(
    function: Function, inner: list[Value], passed: Mapping[int, AbstractSet[int | None]], project: Project
) -> AbstractSet[int | None]:
    """The elements of what a function returns to which gradients come from any of several values in it."""
    found: set[int | None] = set()
    for value in _returned_values(function):
        is_tuple = value.op is Op.TUPLE and all(arg.op is not Op.STARRED for arg in value.args)
        for place, part in enumerate(value.args) if is_tuple else [(None, value)]:
            reached = _ways(part, function, passed, project)
            found.update([place] if any(id(one) in reached for one in inner) else [])
    return found


def _returned_values(function: Function) -> Iterator[Value]:
    return (event.value for event in function.flow.events if event.kind in _RETURNS)


def _ways(
    end: Value,
    function: Function | None,
    passed: Mapping[int, AbstractSet[int | None]],
    project: Project,
    depth: int = 0,
) -> set[int]:
    """The values of a function to which gradients may go from one, by identity.

    `passed` are the elements of what calls give through which they go. `depth`: the number of calls around it.
    """
    found: set[int] = set()
    pending = [end]
    while pending:
        value = pending.pop()
        if id(value) in found:
            continue
        if value.op is Op.ITEM and any(None not in elements for elements in passed.values()):
            continue  # it may be any element
        if value.op in (Op.INDEX, Op.UNPACK):
            elements = passed.get(id(value.args[0]), _ANY)
            if (None not in elements and not _may_be(value, elements)) or _are_ids(value):
                continue
        before = _operands(value, function, project, depth)
        if before is not None:
            found.add(id(value))
            pending += before
    return found


def _may_be(part: Value, elements: AbstractSet[int | None]) -> bool:
    """True if a part of a tuple may be one of these elements."""
    place = part.data if part.op is Op.UNPACK else part.args[1].data if part.args[1].op is Op.CONST else None
    return type(place) is not int or place < 0 or place in elements


def _are_ids(part: Value) -> bool:
    """True for the second result of `topk`, `sort`, `max` along a dimension and the like: ids have no gradient."""
    place = part.data if part.op is Op.UNPACK else part.args[1].data if part.args[1].op is Op.CONST else None
    callee = part.args[0].callee if part.args[0].op is Op.CALL else None
    row = None if callee is None or callee.op is not Op.ATTR else shape_row(f"Tensor.{callee.data}")
    return place == 1 and row is not None and "pairs" in row.facets


def _operands(value: Value, function: Function | None, project: Project, depth: int) -> Sequence[Value] | None:
    """The values to which gradients may go from an expression; None if they do not go through it."""
    if value.op is Op.COMPARE or (value.op is Op.ATTR and value.data in _CUTTING):
        return None
    if value.op is not Op.CALL or function is None:
        return value.args
    callee = value.callee
    if callee.op is Op.ATTR and callee.data in _CUTTING:
        return None
    name = self_attribute(callee)
    if name is not None and function.owner is not None:
        called = project.of(Members).method(function.owner, name)
    else:
        found = project.names.definition(function.module, callee)
        if isinstance(found, External):
            return None if found.name.rpartition(".")[2] in _CUTTING else value.args
        called = found.function if isinstance(found, DefinedFunction) else None
    if called is None or depth == _MAX_DEPTH:
        return value.args
    carried = project.once(("carries gradients", called, depth), lambda: _carried_on(called, project, depth + 1))
    if carried is None:
        return None
    if value.has_unpacking:
        return value.args
    given = called.bind(value)
    return [callee, *(argument for name, argument in given.items() if name in carried)]


def _carried_on(function: Function, project: Project, depth: int) -> AbstractSet[str] | None:
    """The parameters to which gradients may go from what a function returns; None if they go to nothing at all.

    They may go to `self`, and to what is no parameter.
    """
    returned = [*_returned_values(function)]
    found: set[str] = set()
    is_any = not returned
    for value in returned:
        reached = _ways(value, function, {}, project, depth)
        ends = [part for part in value.walk() if id(part) in reached and not part.args]
        found.update(str(part.data) for part in ends if part.op is Op.PARAM)
        is_any = is_any or bool(ends)
    return found if is_any else None
