"""Methods of an object that lead to other methods, by their calls and the attributes that they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.mentions import assigned
from modellint.graph.value import EventKind, Op, called_name, self_attribute, walk_all

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from modellint.graph.python import Function, ModuleFacts

#: Methods that run when the object itself is called.
_CALLED = frozenset(("forward", "__call__"))


def leading_to(methods: list[Function], names: set[str]) -> frozenset[str]:
    """The methods named `names`, and those that use them, transitively; constructors are left out."""
    found = set(names)
    while True:
        more = {m.name for m in methods if m.name not in found and m.name != "__init__" and _uses(m, found)}
        if not more:
            return frozenset(found)
        found |= more


def leading_home(methods: list[Function], home: ModuleFacts, read: AbstractSet[str]) -> list[Function]:
    """The methods of an object that stand in a file, and those of other files that may lead there.

    These call what the file defines or what the object stores there, or use attributes `read`. Class methods have no
    object yet.
    """
    own = {method for method in methods if method.module is home}
    others = [method for method in methods if method.module is not home and not method.is_class_method]
    kept = {name for method in own for name in assigned(method.text)}
    defined = {function.name for function in home.all_functions() if function.name != "__init__"} | _CALLED
    found = {method.name for method in others if _calls(method, defined, kept) or _uses(method, read)}
    leading = leading_to(others, found)
    return [method for method in methods if method in own or (method.name in leading and not method.is_class_method)]


def _calls(method: Function, defined: AbstractSet[str], kept: AbstractSet[str]) -> bool:
    """True if a method calls its own object, a name that a file defines, or an attribute that its methods store."""
    if defined.isdisjoint(method.words) and kept.isdisjoint(method.words) and "self(" not in method.text:
        return False
    for event in method.flow.of(EventKind.CALL):
        callee = event.value.callee
        is_object = callee.op is Op.PARAM and callee.data == "self"
        if is_object or called_name(callee) in defined or self_attribute(callee) in kept:
            return True
    return False


def _uses(function: Function, names: AbstractSet[str]) -> bool:
    """True if a function uses one of these attributes of its object."""
    if names.isdisjoint(function.words):
        return False
    return any(self_attribute(part) in names for part in walk_all(event.value for event in function.flow.events))
