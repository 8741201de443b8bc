"""A layer that is called twice, where one of the calls was meant for another layer that nothing reads."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from modellint.graph.attributes import set_attribute, set_value
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Event, Value

    from .unused import Unused


@dataclass(frozen=True, slots=True)
class Twin:
    """The layer `name` is called at `call` of a function, in place of another, after which the call is named."""

    name: str
    function: Function
    call: Value
    other: Value


def twin_of(found: Unused) -> Twin | None:
    """The layer that is called twice in place of a layer that nothing reads; None if that is not plain."""
    for name, mark in _made_alike(found):
        for function in found.cls.methods.values():
            if name not in function.words or function.name == "__init__":
                continue
            calls = [e for e in function.flow.of(EventKind.CALL) if self_attribute(e.value.callee) == name]
            for first, second in combinations(calls, 2):
                if first.guard is not second.guard or len(first.value.args) < 2 or len(second.value.args) < 2:
                    continue
                is_for = [_is_for(mark, event, function) for event in (first, second)]
                if is_for.count(True) == 1 and first.value.args[1] is not second.value.args[1]:
                    wrong, right = (first, second) if is_for[0] else (second, first)
                    return Twin(name, function, wrong.value, right.value)
    return None


def _made_alike(found: Unused) -> Iterator[tuple[str, str]]:
    """The layers that the same function makes in the same way under nearly the same name, and the part that differs."""
    made = set_value(found.event)
    for event in found.function.flow.events:
        name = set_attribute(event)
        if name is None or name == found.name or made.op is not Op.CALL:
            continue
        value = set_value(event)
        if value.op is not Op.CALL or len(value.args) != len(made.args) or value.data != made.data:
            continue
        one, other = value.callee, made.callee
        mark = _mark(found.name, name)
        if mark is not None and (one.op, one.data) == (other.op, other.data):
            yield name, mark


def _mark(name: str, other: str) -> str | None:
    """The part of a name by which alone it differs from another one: `item` of `dense_item` beside `dense_user`."""
    parts, others = _parts(name), _parts(other)
    if len(parts) != len(others) or len(parts) < 2:
        return None
    apart = [(one, two) for one, two in zip(parts, others, strict=True) if one != two]
    return apart[0][0] if len(apart) == 1 else None


def _parts(name: str) -> list[str]:
    """`dense`, `layer` and `2` of `dense_layer2`."""
    found: list[str] = []
    for part in name.lower().split("_"):
        stem = part.rstrip("0123456789")
        found += [one for one in (stem, part[len(stem) :]) if one]
    return found


def _is_for(mark: str, event: Event, function: Function) -> bool:
    """True if an argument or the result of a layer's call is named like the layer that nothing reads."""
    given = event.value.args[1]
    names = {given.target or "", str(given.data) if given.op in (Op.PARAM, Op.ATTR) else "", event.value.target or ""}
    parts = {part for name in names for part in _parts(name)}
    return any(part == mark or (len(mark) == 1 and mark.isalpha() and part.startswith(mark)) for part in parts)
