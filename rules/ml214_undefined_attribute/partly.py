"""Attributes that a constructor sets on one side of a condition only, and that are read on either."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.attributes import set_attribute, set_value
from modellint.graph.definitions import DefinedClass, External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, Value, is_argument, self_attribute

from .barred import (
    CATCHING,
    Fact,
    are_at_odds,
    asserted_facts,
    attribute_finder,
    attributes_in,
    facts_of,
    facts_under,
    is_unconditional,
    name_of,
)
from .undefined import set_by_others

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, PathCondition
    from modellint.rule import Project


@dataclass(frozen=True, slots=True)
class Partly:
    """A read of `self.name` on each way, and where the constructor sets it.

    `by_default` is the parameter whose default leaves it unset; else another branch of the same conditions does.
    """

    cls: Class
    function: Function
    event: Event
    name: str
    stored: Event
    by_default: str


def partly_set(module: ModuleFacts, project: Project) -> Iterator[Partly]:
    """The reads of attributes in the layers of a file that their constructor sets on one side of a condition only."""
    for cls in module.classes.values():
        constructor = cls.methods.get("__init__")
        if constructor is None or not project.classes.model(cls).is_module:
            continue
        sides = {
            name: (stored, default)
            for name, stored in _stored_on_one_side(constructor)
            if (default := _left_unset(stored, constructor)) is not None
        }
        found = {name: read for name in sides if (read := _read(name, cls, project, *sides[name])) is not None}
        for name in set_by_others(frozenset(found), cls, project):
            del found[name]
        for name, (function, event) in found.items():
            yield Partly(cls, function, event, name, *sides[name])


def _stored_on_one_side(constructor: Function) -> Iterator[tuple[str, Event]]:
    """The names under which a constructor stores only on one side of one condition, each with its first store."""
    stored: dict[str, list[Event]] = {}
    for event in constructor.flow.events:
        if event.kind in (EventKind.STORE, EventKind.CALL) and (name := set_attribute(event)) is not None:
            stored.setdefault(name, []).append(event)
    for name, events in stored.items():
        sides = {(id(guard.test), guard.truthy) if (guard := _outermost(event)) else None for event in events}
        if len(sides) == 1 and None not in sides and not any(event.loops or event.handled for event in events):
            yield name, events[0]


def _outermost(event: Event) -> PathCondition | None:
    """The outermost condition of an event that is no assertion; None if there is none."""
    guards = list(event.guard.chain()) if event.guard is not None else []
    return next((guard for guard in reversed(guards) if not guard.raised), None)


def _left_unset(stored: Event, constructor: Function) -> str | None:
    """The parameter whose default skips the store; empty if another branch with a condition skips it.

    None if nobody may ever take that side.
    """
    side = _outermost(stored)
    assert side is not None
    if side.early:
        return None
    for parameter in constructor.parameters:
        default = parameter.default
        if default is not None and default.op is Op.CONST:
            taken = queries.outcome(side.test, {parameter.name: default.data})
            if taken is not None and taken is not side.truthy:
                return parameter.name
    return "" if _has_alternative(side, constructor) else None


def _has_alternative(side: PathCondition, constructor: Function) -> bool:
    """True if an argument decides the side, and the other side sets something else, or under a further condition."""
    if not any(map(is_argument, side.test.walk())) or "forward" in constructor.flow.stores:
        return False
    for event in constructor.flow.of(EventKind.STORE):
        guards = list(event.guard.chain()) if event.guard is not None else []
        others = [guard for guard in guards if guard.test is side.test and guard.truthy is not side.truthy]
        is_set = set_attribute(event) is not None and not any(guard.early for guard in others)
        if others and (is_set or any(guard.truthy and guard.test is not side.test for guard in guards)):
            return True
    return False


def _read(name: str, cls: Class, project: Project, stored: Event, default: str) -> tuple[Function, Event] | None:
    """The first read of an attribute that each `forward` reaches, or the constructor behind the condition."""
    unset: _Unset | None = None
    for function in (cls.methods.get("forward"), cls.methods.get("__init__")):
        if function is None or name not in function.words:
            continue
        for event in function.flow.reads:
            if event.value.data != name or _outermost(event) is not None or event.value.op is not Op.ATTR:
                continue
            is_later = event.value.line > stored.value.end_line
            is_first = is_later if function.name == "__init__" else len(event.value.args) == 1
            if is_first and CATCHING.isdisjoint(event.handled):
                unset = unset or _Unset(cls.methods["__init__"], stored, default, project)
                if unset.come_to(event, function):
                    return function, event
    return None


class _Unset:
    """The objects whose constructor takes the side of a condition that does not set an attribute."""

    def __init__(self, constructor: Function, stored: Event, default: str, project: Project) -> None:
        side = _outermost(stored)
        assert side is not None
        name = partial(name_of, kept=attribute_finder(constructor))
        self._facts = [*asserted_facts(constructor, name), *facts_of(side.test, not side.truthy, name)]
        parameter = constructor.parameter(default)
        if parameter is not None and parameter.default is not None:
            about = name(Value(Op.PARAM, (), default, None))
            self._facts.append(Fact(about, "==", parameter.default.data))
        #: The attributes that are the same on either side.
        self._same = {"training"}
        stores: dict[str, list[Event]] = {}
        sided: set[str] = set()
        for event in constructor.flow.events:
            if (attribute := set_attribute(event)) is not None and not _stands(event, side, side.truthy):
                stores.setdefault(attribute, []).append(event)
            elif attribute is not None:
                sided.add(attribute)
        decisive = [part.data for part in side.test.walk() if is_argument(part)]
        for attribute, (event, *others) in stores.items():
            if others or event.loops or event.handled:
                continue
            if is_unconditional(event) or _stands(event, side, not side.truthy, alone=True):
                self._facts += _facts_after_store(attribute, set_value(event), constructor.module, project)
            is_same = attribute not in sided and not any(part.data in decisive for part in event.value.walk())
            if is_same and is_unconditional(event):
                self._same.add(attribute)

    def come_to(self, event: Event, function: Function) -> bool:
        """True if a method that is called on such an object reaches an event, past nothing but assertions."""
        about = {fact.about for fact in self._facts}
        undecided = {name for name in attributes_in(event.guard) - self._same if ("self", name) not in about}
        if undecided or are_at_odds((*self._facts, *facts_under(event.guard, name_of))):
            return False
        return not any(self._may_refuse(call, function) for call in _called_before(event, function))

    def _may_refuse(self, call: Value, function: Function) -> bool:
        """True if the called method only reads, and reads an attribute that the constructor sets under a condition."""
        method = function.owner.methods.get(self_attribute(call.callee) or "") if function.owner is not None else None
        if method is None or any(event.kind is EventKind.STORE for event in method.flow.events):
            return False
        return any(event.value.data not in self._same for event in method.flow.reads)


def _stands(event: Event, side: PathCondition, truthy: bool, *, alone: bool = False) -> bool:
    """True if an event is on a side of a condition; with `alone`, under no other condition, and once."""
    links = [link for link in event.guard.chain() if not link.raised] if event.guard is not None else []
    is_there = any(link.test is side.test and link.truthy is truthy for link in links)
    return is_there and not (alone and (len(links) > 1 or event.loops or event.handled))


def _facts_after_store(attribute: str, value: Value, module: ModuleFacts, project: Project) -> Iterator[Fact]:
    """The fact about an attribute that is set to a constant, or to an object of a class."""
    about = "self", attribute
    if value.op is Op.CONST:
        yield Fact(about, "==", value.data)
    elif value.op is Op.CALL:
        definition = project.names.definition(module, value.callee)
        if isinstance(definition, DefinedClass | External) and project.classes.of(definition) is not None:
            yield Fact(about, "is not", None)


def _called_before(event: Event, function: Function) -> Iterator[Value]:
    """The calls that a function makes in any case before an event, and whose results it drops."""
    for call in function.flow.dropped:
        here, there = ((one.value.line, one.value.offset) for one in (call, event))
        if here < there and is_unconditional(call):
            yield call.value
