"""Tensors that a layer makes when it is called and keeps for the next call: they stay behind when it moves in between.

An assignment is a cache if it stands under a test of the object's attributes, or in `train` or `eval`, and its value
has no content of the layer's input. Running the object's work once more shows where the cached tensor meets one that
has moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.declared import is_about_devices
from modellint.graph.definitions import External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, called_name, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

_MOVES = operators.methods("Tensor", "moves")
#: Methods whose results have a tensor's device, perhaps its size, and none of its values.
_ALIKE = operators.methods("Tensor", "sized") | operators.methods("Tensor", "makes") - {"to"}
#: Functions that give numbers.
_NUMBERS = frozenset(("len", "int", "max", "min", "range"))
_SETTING = frozenset(("setattr", "builtins.setattr"))
#: Methods of `nn.Module` that callers run before they call the layer, or move it.
_SWITCHES = frozenset(("train", "eval"))
_CALLING = frozenset((Op.CALL,))
_CALCULATING = frozenset((Op.CALL, Op.BIN, Op.UNARY, Op.INDEX, Op.ATTR))
_MAX_DEPTH = 40


@dataclass(frozen=True, eq=False, slots=True)
class Cached:
    """An assignment by which a method stores a new tensor in an attribute, unless it holds one."""

    attribute: str
    value: Value
    target: Value
    function: Function

    @property
    def made(self) -> queries.Fresh:
        return queries.Fresh(self.value, self.function, 1, is_late=True)


def caches(cls: Class, project: Project) -> list[Cached]:
    """The assignments of a class's own methods that look as if they cached tensors for later calls; one a name."""
    found: dict[str, Cached] = {}
    assigning = {method for methods in cls.assigned.values() for method in methods}
    for method in cls.methods.values():
        may_keep = method in assigning or "]" in method.text or "setattr" in method.words
        if not may_keep or method.name == "__init__" or method.is_static or method.is_class_method:
            continue
        kept = [(event, one) for event in method.flow.events if (one := _stored_attribute(event, method)) is not None]
        names = {one.attribute for _, one in kept}
        for event, one in kept:
            if one.attribute not in found and _is_cache(event, one, names, cls, project):
                found[one.attribute] = one
    return list(found.values())


def _stored_attribute(event: Event, method: Function) -> Cached | None:
    """The store to an attribute of the object, or to an item of one, that an event is; None if it is none."""
    if event.kind is EventKind.STORE and event.target is not None:
        target = event.target
        name = self_attribute(target.args[0] if target.op is Op.INDEX else target)
        return None if name is None else Cached(name, event.value, target, method)
    call = event.value
    if event.kind is not EventKind.CALL or call.callee.data not in _SETTING or len(call.positional) != 3:
        return None
    owner, key, value = call.positional
    is_own = owner.op is Op.PARAM and owner.data == "self" and key.op is Op.CONST
    return Cached(str(key.data), value, call, method) if is_own else None


def _is_cache(event: Event, one: Cached, names: set[str], cls: Class, project: Project) -> bool:
    """True if a new value is stored under a test of attributes that its method stores, and no test is about devices.

    Or if a method that switches the layer's mode stores it.
    """
    is_switch = one.function.name in _SWITCHES and one.target.op is Op.ATTR
    making = _CALCULATING if is_switch else _CALLING
    if not any(part.op in making for part in one.value.walk()) or _has_content(one.value, cls, project):
        return False
    tests = list(_tests(event, one.function, cls))
    about = {name for test in tests for part in test.walk() for name in (_asked_attribute(part),) if name is not None}
    keys = one.target.args[1:] if one.target.op is Op.INDEX else ()
    if one.target.op is Op.INDEX and one.attribute not in about:
        return False
    return (is_switch or not names.isdisjoint(about)) and not any(map(is_about_devices, (*tests, *keys)))


def _asked_attribute(part: Value) -> str | None:
    """The attribute of the object that a part of a test reads, or asks for: `hasattr(self, "mask")`."""
    if part.op is Op.CALL and called_name(part.callee) in ("hasattr", "getattr") and len(part.positional) > 1:
        owner, key = part.positional[:2]
        return str(key.data) if owner.op is Op.PARAM and owner.data == "self" else None
    return self_attribute(part)


def _tests(event: Event, function: Function, cls: Class) -> Iterator[Value]:
    """The conditions under which an event happens, those of the calls of its method included."""
    if event.guard is not None:
        yield from (link.test for link in event.guard.chain())
    for method in cls.methods.values():
        for call in method.flow.of(EventKind.CALL) if function.name in method.words else ():
            if self_attribute(call.value.callee) == function.name and call.guard is not None:
                yield from (link.test for link in call.guard.chain())


def _has_content(value: Value, cls: Class, project: Project, depth: int = 0) -> bool:
    """True if a value depends on an argument of the method by more than its size, type and device."""
    if value.op is Op.PARAM:
        return bool(value.data != "self")
    if depth > _MAX_DEPTH:
        return True
    if value.op is Op.ATTR and _gives_other(str(value.data)):
        return False
    if self_attribute(value) is not None:
        return _is_state(value, cls)
    parts = value.args
    if value.op is Op.CALL:
        callee, name = value.callee, str(value.callee.data)
        definition = project.names.definition(cls.module, callee)
        row = operators.row(definition.name) if isinstance(definition, External) else None
        is_method = self_attribute(callee) is not None and name in cls.methods
        if is_method:
            return any(_is_state(arg, cls) for arg in value.args[1:])
        if row is not None and "fresh" in row.facets and "literal" not in row.facets:
            return False
        if callee.op is Op.ATTR and (name in _ALIKE or name.endswith("_like") or _gives_other(name)):
            return False
        if callee.op is Op.GLOBAL and name in _NUMBERS:
            return False
        is_moved = callee.op is Op.ATTR and name in _MOVES
        parts = callee.args if is_moved else (*callee.args, *value.args[1:])
    elif value.op is Op.INDEX:
        parts = value.args[:1]
    return any(_has_content(part, cls, project, depth + 1) for part in parts)


def _is_state(value: Value, cls: Class) -> bool:
    """True if a value is an attribute that a method other than the constructor stores."""
    own = self_attribute(value)
    return own is not None and any(method.name != "__init__" for method in cls.assigned.get(own, ()))


def _gives_other(name: str) -> bool:
    """True if an attribute or method of tensors gives something other than tensors."""
    row = operators.row(f"Tensor.{name}")
    return row is not None and row.facets.get("gives", "tensors") != "tensors"


def empty_store(one: Cached, finished: queries.FinishedObject) -> queries.Store | None:
    """The constructor's store of None, if all later stores are of new tensors or None; else None."""
    first = [store for store in finished.first_stores if store.name == one.attribute]
    is_known = len(first) == 1 and first[0].atoms == queries.NONE and not first[0].path and first[0].is_initialised
    later = (atom for store in finished.stores_of(one.attribute) for atom in store.atoms)
    if not is_known or one.target.op is not Op.ATTR:
        return None
    kinds = (queries.There, queries.Moved, queries.Fresh)
    return first[0] if all(isinstance(atom, kinds) or atom == queries.NONE[0] for atom in later) else None
