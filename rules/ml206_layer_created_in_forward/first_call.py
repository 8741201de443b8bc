"""Conditions that hold once: `if self.x is None:`, `if not hasattr(self, "x"):`, `if key not in self.cache:`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.attributes import REGISTERING
from modellint.graph.value import EventKind, Op, is_argument, self_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.value import PathCondition, Value
    from modellint.rule import Project

_LOOKS = frozenset(("hasattr", "getattr"))
_FILLS = frozenset(("append", "add", "update", "setdefault", "fill_"))
#: Functions that store under a name that is an argument.
_SETS = REGISTERING | {"setattr", "__setattr__"}
_ONCE = frozenset(("__init__", "__new__", "__post_init__"))


class FirstCall:
    """Tells conditions that hold at the first call only from those that hold at each."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._stored: dict[tuple[Class, str], tuple[Value, ...]] = {}

    def condition(
        self, guard: PathCondition | None, cls: Class | None, module: ModuleFacts, made: Value, attribute: str | None
    ) -> bool | None:
        """How often the call `made` happens under a path condition, in a function of `module`, on an object of `cls`.

        Its result is stored in an `attribute` of the object, if in any.
        None: it may happen once only, or where something failed. True: the function's arguments decide. False:
        it happens at each call, as far as can be seen.
        """
        conditional = False
        for link in () if guard is None else guard.chain():
            if link.test.op is Op.UNKNOWN and link.test.data == "nested":
                break  # what stands around a function inside of a function: it is called from somewhere else
            if link.test.op is Op.UNKNOWN:
                if link.test.data != "case":
                    return None
                conditional = True
            elif self._is_presence(link.test, link.truthy):
                conditional = True
            elif self._is_once(link.test, cls, module, made, attribute):
                return None
            else:
                conditional = conditional or any(map(is_argument, link.test.walk()))
        return conditional

    @staticmethod
    def _is_presence(test: Value, truthy: bool) -> bool:
        """True if a test holds where an attribute is there (`self.x is not None`): the opposite of a first call."""
        if test.op is Op.UNARY and test.data == "not":
            return FirstCall._is_presence(test.args[0], not truthy)
        if test.op is Op.COMPARE and test.args[1].op is Op.CONST and test.args[1].data is None:
            return self_attribute(test.args[0]) is not None and (test.data in ("is not", "!=")) is truthy
        is_look = test.op is Op.CALL and test.callee.op is Op.GLOBAL and test.callee.data == "hasattr"
        return is_look and truthy

    def _is_once(self, test: Value, cls: Class | None, module: ModuleFacts, made: Value, attribute: str | None) -> bool:
        for part in test.walk():
            if part.op is Op.CALL and part.callee.op is Op.GLOBAL and part.callee.data in _LOOKS:
                return True
            if part.op is Op.COMPARE and part.data in ("in", "not in") and _is_global_cache(part.args[1], module):
                return True
            if part.op is Op.COMPARE and part.data in ("is", "is not") and part.args[0].op is Op.GLOBAL:
                return True
        for subject in _subjects(test):
            name = _root_attribute(subject)
            if name is not None and cls is not None and self._keeps(cls, name, made, is_there=name == attribute):
                return True
        return False

    def _keeps(self, cls: Class, name: str, made: Value, *, is_there: bool) -> bool:
        """True if an attribute that methods other than the constructor set may show that `made` is there already.

        One that is computed with the new layer, and set to None again between calls, does not.
        """
        key = (cls, name)
        stored = self._stored.get(key)
        if stored is None:
            stored = self._stored[key] = tuple(
                value
                for owner in self._project.classes.model(cls).mro()
                if owner.cls is not None
                for value in _stored_later(owner.cls, name)
            )
        is_forgotten = any(value.op is Op.CONST and value.data is None for value in stored)
        return bool(stored) and (is_there or not (is_forgotten and any(made in value.walk() for value in stored)))


def _stored_later(cls: Class, name: str) -> Iterator[Value]:
    """The values that methods other than the constructor store in an attribute, or in its items."""
    for function in cls.methods.values():
        if function.name in _ONCE or name not in function.words:
            continue
        for event in function.flow.of(EventKind.STORE):
            target = event.target
            while target is not None and target.op is Op.INDEX:
                target = target.args[0]
            if target is not None and self_attribute(target) == name:
                yield event.value
        for event in function.flow.of(EventKind.CALL):
            callee = event.value.callee
            if callee.data in _SETS and any(arg.op is Op.CONST and arg.data == name for arg in event.value.args[1:]):
                yield event.value.args[-1]
            if callee.op is Op.ATTR and callee.data in _FILLS and self_attribute(callee.args[0]) == name:
                yield event.value


def _subjects(test: Value) -> Iterator[Value]:
    """The operands of a test's comparisons, and other values whose truth it depends on."""
    if test.op in (Op.BOOL, Op.COMPARE) or (test.op is Op.UNARY and test.data == "not"):
        for arg in test.args:
            yield from _subjects(arg)
    else:
        yield test


def _root_attribute(value: Value) -> str | None:
    """`proj` of `self.proj`, `self.proj.in_features`, `self.proj.get(key)`, `len(self.proj)`."""
    while True:
        name = self_attribute(value)
        if name is not None:
            return name
        if value.op in (Op.ATTR, Op.INDEX):
            value = value.args[0]
        elif value.op is Op.CALL and value.callee.op is Op.ATTR:
            value = value.callee.args[0]
        elif value.op is Op.CALL and value.callee.data in ("len", "bool") and value.positional:
            value = value.positional[0]
        else:
            return None


def _is_global_cache(value: Value, module: ModuleFacts) -> bool:
    """True if a name stands for a container that starts out empty and outlives the call."""
    stated = module.constants.get(value.data) if value.op is Op.GLOBAL else None
    return stated is not None and not stated.args[stated.op is Op.CALL :]
