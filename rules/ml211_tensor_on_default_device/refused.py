"""Tensors that no object uses: the constructor raises for the values of an attribute that they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, self_attribute, walk_all

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from modellint.flow import queries
    from modellint.graph.python import Class
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

    #: A test, and whether it holds.
    Condition = tuple[Value, bool]

#: The number of parts of an expression that are looked at on the way to the call that makes a tensor.
_MAX_STEPS = 2_000


def is_always_replaced(met: queries.Encounter, project: Project) -> bool:
    """True if a tensor is made, or used, only where an attribute has no value that its constructor accepts."""
    function, maker = met.made.function, met.made.maker
    if function is None or function.owner is None:
        return False
    owners = [model.cls for model in project.classes.model(function.owner).mro() if model.cls is not None]
    events = function.flow.events
    made = [_conditions(event) for event in events if event.value is maker]
    used = [met.value] if met.function is function else [event.value for event in events if event.value is not maker]
    ways = [way for value in used for way in _ways(value, maker)]
    return any(found and all(_is_refused(way, owners) for way in found) for found in (made, ways))


def _conditions(event: Event) -> tuple[Condition, ...]:
    """The conditions under which an event happens."""
    return () if event.guard is None else tuple((link.test, link.truthy) for link in event.guard.chain())


def _ways(value: Value, maker: Value) -> Iterator[tuple[Condition, ...]]:
    """The conditions under which a value comes from the value of `maker`, for each way through choices."""
    leading = _parts_with(maker, value)
    pending: list[tuple[Value, tuple[Condition, ...]]] = [(value, ())] if id(value) in leading else []
    seen: set[tuple[int, tuple[tuple[int, bool], ...]]] = set()
    while pending and len(seen) < _MAX_STEPS:
        part, so = pending.pop()
        key = id(part), tuple((id(test), holds) for test, holds in so)
        if key in seen:
            continue
        seen.add(key)
        if part is maker:
            yield so
        elif part.op is Op.CHOICE and part.data is not None:
            args = enumerate(part.args)
            pending += [(arg, (*so, (part.data, number == 0))) for number, arg in args if id(arg) in leading]
        else:
            pending += [(arg, so) for arg in part.args if id(arg) in leading]
    if pending:
        yield ()


def _parts_with(maker: Value, value: Value) -> set[int]:
    """The parts of an expression, by identity, that the value of `maker` is a part of."""
    parents: dict[int, list[Value]] = {}
    for part in walk_all((value,)):
        for arg in part.args:
            parents.setdefault(id(arg), []).append(part)
    found: set[int] = set()
    pending = [maker] if maker is value or id(maker) in parents else []
    while pending:
        part = pending.pop()
        if id(part) not in found:
            found.add(id(part))
            pending += parents.get(id(part), ())
    return found


def _is_refused(way: tuple[Condition, ...], owners: list[Class]) -> bool:
    """True if conditions exclude all values that the constructor accepts for an attribute."""
    left_out: dict[str, set[Hashable]] = {}
    for test, holds in way:
        name = self_attribute(test.args[0]) if test.op is Op.COMPARE else None
        if name is not None and test.data == ("!=" if holds else "==") and test.args[1].op is Op.CONST:
            left_out.setdefault(name, set()).add(test.args[1].data)
    return any((allowed := _accepted_values(name, owners)) and allowed <= values for name, values in left_out.items())


def _accepted_values(name: str, owners: list[Class]) -> set[Hashable]:
    """The values of an attribute for which the constructor raises no error; empty if they are not known."""
    stores = [store for owner in owners for store in owner.stores(name)]
    if len(stores) != 1 or stores[0][0].name != "__init__":
        return set()
    constructor, kept = stores[0][0], stores[0][1].value
    events = [event for event in constructor.flow.events if event.guard is not None]
    links = {id(link): link for event in events if event.guard is not None for link in event.guard.chain()}
    known = [(link.test, link.truthy) for link in links.values() if all(one.raised for one in link.chain())]
    known += [
        (event.guard.test, not event.guard.truthy)
        for event in constructor.flow.of(EventKind.RAISE)
        if event.guard is not None
        and not event.handled
        and (event.guard.outer is None or all(one.raised for one in event.guard.outer.chain()))
    ]
    found = (_values_listed(test, holds, name, kept) for test, holds in known)
    return next((values for values in found if values), set())


def _values_listed(test: Value, holds: bool, name: str, kept: Value) -> set[Hashable]:
    """The constants of which an attribute, or the value that it stores, must be one where a condition holds."""
    if test.op is Op.UNARY and test.data == "not":
        return _values_listed(test.args[0], not holds, name, kept)
    if test.op is Op.BOOL and (test.data == "or") is holds:
        parts = [_values_listed(part, holds, name, kept) for part in test.args]
        return set().union(*parts) if all(parts) else set()
    if test.op is not Op.COMPARE or not _is_it(test.args[0], name, kept):
        return set()
    other = test.args[1]
    if test.data == ("in" if holds else "not in") and other.op in (Op.LIST, Op.TUPLE, Op.SET):
        return {part.data for part in other.args} if all(part.op is Op.CONST for part in other.args) else set()
    return {other.data} if test.data == ("==" if holds else "!=") and other.op is Op.CONST else set()


def _is_it(value: Value, name: str, kept: Value) -> bool:
    return self_attribute(value) == name or (value.op is Op.PARAM and kept.op is Op.PARAM and value.data == kept.data)
