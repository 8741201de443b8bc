"""Conditions that hold once: `if self.x is None:`, `if not hasattr(self, "x"):`, `if key not in self.cache:`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, self_attribute

if TYPE_CHECKING:
    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.value import Guard, Value
    from modellint.link.project import Project

_LOOKS = frozenset(("hasattr", "getattr"))
_FILLS = frozenset(("append", "add", "update", "setdefault", "fill_"))
_ONCE = frozenset(("__init__", "__new__", "__post_init__"))


class FirstCall:
    """Tells what holds at the first call only from what holds at each."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._changing: dict[tuple[Class, str], bool] = {}

    def condition(self, guard: Guard | None, cls: Class | None, module: ModuleFacts) -> bool | None:
        """What a guard says of something that happens under it in a function of `module`, on an object of `cls`.

        None: it may happen once only, or where something failed. True: what the function is given decides. False:
        it happens at each call, as far as can be seen.
        """
        conditional = False
        for link in () if guard is None else guard.chain():
            if link.test.op is Op.UNKNOWN:
                if link.test.data != "case":
                    return None
                conditional = True
            elif self._is_presence(link.test, link.truthy):
                conditional = True
            elif self._is_once(link.test, cls, module):
                return None
            else:
                conditional = conditional or any(
                    part.op is Op.PARAM and part.data != "self" for part in link.test.walk()
                )
        return conditional

    @staticmethod
    def _is_presence(test: Value, truthy: bool) -> bool:
        """Whether a test holds where an attribute is there (`self.x is not None`): the opposite of a first call."""
        if test.op is Op.UNARY and test.data == "not":
            return FirstCall._is_presence(test.args[0], not truthy)
        if test.op is Op.COMPARE and test.args[1].op is Op.CONST and test.args[1].data is None:
            return self_attribute(test.args[0]) is not None and (test.data in ("is not", "!=")) is truthy
        is_look = test.op is Op.CALL and test.callee.op is Op.GLOBAL and test.callee.data == "hasattr"
        return is_look and truthy

    def _is_once(self, test: Value, cls: Class | None, module: ModuleFacts) -> bool:
        for part in test.walk():
            if part.op is Op.CALL and part.callee.op is Op.GLOBAL and part.callee.data in _LOOKS:
                return True
            if part.op is Op.COMPARE and part.data in ("in", "not in") and _is_global_cache(part.args[1], module):
                return True
            if part.op is Op.COMPARE and part.data in ("is", "is not") and part.args[0].op is Op.GLOBAL:
                return True
            name = self_attribute(part)
            if name is not None and cls is not None and self._changes(cls, name):
                return True
        return False

    def _changes(self, cls: Class, name: str) -> bool:
        """Whether methods other than the constructor set an attribute, or something in it."""
        key = (cls, name)
        known = self._changing.get(key)
        if known is None:
            known = self._changing[key] = any(
                self._sets(owner.cls, name) for owner in self._project.classes.model(cls).mro() if owner.cls is not None
            )
        return known

    @staticmethod
    def _sets(cls: Class, name: str) -> bool:
        for function in cls.mentioned.get(name, ()):
            if function.name in _ONCE:
                continue
            for event in function.flow.of(EventKind.STORE):
                target = event.target
                while target is not None and target.op is Op.INDEX:
                    target = target.args[0]
                if target is not None and self_attribute(target) == name:
                    return True
            for event in function.flow.of(EventKind.CALL):
                callee = event.value.callee
                if callee.op is Op.ATTR and callee.data in _FILLS and self_attribute(callee.args[0]) == name:
                    return True
        return False


def _is_global_cache(value: Value, module: ModuleFacts) -> bool:
    """Whether a name stands for a container that starts out empty and outlives the call."""
    stated = module.constants.get(value.data) if value.op is Op.GLOBAL else None
    return stated is not None and not stated.args[stated.op is Op.CALL :]
