"""Attributes that one method of a layer sets only after it has read them, and that nothing else sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.attributes import set_attribute
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute

from .barred import is_never_reached, is_unconditional
from .undefined import may_differ, set_by_others

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project


@dataclass(frozen=True, slots=True)
class TooEarly:
    """A read of `self.name` by each call of a method, whose first store comes later: `stored`."""

    cls: Class
    function: Function
    event: Event
    value: Value
    stored: Event

    @property
    def name(self) -> str:
        return str(self.value.data)


def read_too_early(module: ModuleFacts, project: Project) -> Iterator[TooEarly]:
    """The reads in the layers of a file that come before anything has set the attribute."""
    for cls in module.classes.values():
        names: dict[Function, set[str]] = {}
        for name, methods in cls.assigned.items():
            if len(methods) == 1 and name not in cls.attributes:
                names.setdefault(methods[0], set()).add(name)
        for method, assigned in names.items():
            found = {early.name: early for early in _reads(cls, method, assigned)}
            if not found or not project.classes.model(cls).is_module:
                continue
            for name in set_by_others(frozenset(found), cls, project, by=method):
                del found[name]
            if not found or may_differ(cls, project):
                continue
            for early in found.values():
                if not is_never_reached(early.event, method, cls, project):
                    yield early


def _reads(cls: Class, method: Function, names: set[str]) -> Iterator[TooEarly]:
    """The first read of each of the attributes that a method sets, if each call reads it before."""
    if method.is_static or method.is_class_method:
        return
    first: dict[str, Event] = {}
    for event in method.flow.events:
        if event.kind in (EventKind.STORE, EventKind.CALL) and (name := set_attribute(event)) in names:
            first.setdefault(name, event)
    # `self.x += 1` reads `self.x` in the event that stores it.
    changed = [
        (stored, stored.value.args[0])
        for name, stored in first.items()
        if stored.value.op is Op.BIN and self_attribute(stored.value.args[0]) == name
    ]
    seen: set[str] = set()
    for event, value in (*((event, event.value) for event in method.flow.reads), *changed):
        name = str(value.data)
        stored = first.get(name)
        if stored is None or name in seen or value.op is not Op.ATTR or len(value.args) > 1:
            continue
        if is_unconditional(event) and _comes_before(value, stored):
            seen.add(name)
            yield TooEarly(cls, method, event, value, stored)


def _comes_before(read: Value, stored: Event) -> bool:
    """True if a read is evaluated before a store."""
    target = stored.target if stored.target is not None else stored.value
    is_above = (read.line, read.offset) < (target.line, target.offset)
    return is_above or any(part is read for part in stored.value.walk())
