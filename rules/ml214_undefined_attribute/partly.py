"""Attributes that a constructor sets on one side of a condition only, and that are read on either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.truth import truth_with
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, is_argument
from modellint.link.classes.spoken import kept_name

from .undefined import set_by_others

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, PathCondition
    from modellint.link.project import Project

_CATCHING = frozenset(("AttributeError", "Exception", "BaseException"))


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
        found = {name: read for name in sides if (read := _read(name, cls, sides[name][0])) is not None}
        for name in set_by_others(frozenset(found), cls, project):
            del found[name]
        for name, (function, event) in found.items():
            yield Partly(cls, function, event, name, *sides[name])


def _stored_on_one_side(constructor: Function) -> Iterator[tuple[str, Event]]:
    """The names that a constructor keeps something under, each time on the same side of the same condition."""
    stored: dict[str, list[Event]] = {}
    for event in constructor.flow.events:
        if event.kind in (EventKind.STORE, EventKind.CALL) and (name := kept_name(event)) is not None:
            stored.setdefault(name, []).append(event)
    for name, events in stored.items():
        sides = {(id(guard.test), guard.truthy) if (guard := _outermost(event)) else None for event in events}
        if len(sides) == 1 and None not in sides and not any(event.loops or event.handled for event in events):
            yield name, events[0]


def _outermost(event: Event) -> PathCondition | None:
    """The first condition on the way to an event that may turn out otherwise."""
    guards = list(event.guard.chain()) if event.guard is not None else []
    return next((guard for guard in reversed(guards) if not guard.raised), None)


def _left_unset(stored: Event, constructor: Function) -> str | None:
    """What the other side of a condition is: a parameter's default (its name), or a branch with a condition (empty).

    None if nobody may ever take that side.
    """
    side = _outermost(stored)
    assert side is not None
    if side.early:
        return None
    for parameter in constructor.parameters:
        default = parameter.default
        if default is not None and default.op is Op.CONST:
            taken = truth_with(side.test, {parameter.name: default.data})
            if taken is not None and taken is not side.truthy:
                return parameter.name
    return "" if _has_alternative(side, constructor) else None


def _has_alternative(side: PathCondition, constructor: Function) -> bool:
    """Whether a constructor sets something else on the other side, where another condition on what it takes holds."""
    if not any(map(is_argument, side.test.walk())):
        return False
    for event in constructor.flow.of(EventKind.STORE):
        guards = list(event.guard.chain()) if event.guard is not None else []
        others = [guard for guard in guards if guard.test is side.test and guard.truthy is not side.truthy]
        if others and any(guard.truthy and guard.test is not side.test for guard in guards):
            return True
    return False


def _read(name: str, cls: Class, stored: Event) -> tuple[Function, Event] | None:
    """Where each call reads an attribute, or the constructor behind the condition, whatever holds."""
    for function in (cls.methods.get("forward"), cls.methods.get("__init__")):
        if function is None or name not in function.words:
            continue
        for event in function.flow.reads:
            if event.value.data != name or _outermost(event) is not None or event.value.op is not Op.ATTR:
                continue
            is_later = event.value.line > stored.value.end_line
            is_first = is_later if function.name == "__init__" else len(event.value.args) == 1
            if is_first and _CATCHING.isdisjoint(event.handled):
                return function, event
    return None
