"""The names in the text of a file: functions by name, and the functions that store something under an attribute."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.python import MAKING
from modellint.graph.value import EventKind, Op, dotted, is_self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value

#: Methods that run when an object is called.
CALLED = ("__call__", "forward")
UNNAMED = frozenset((*MAKING, *CALLED))
ADDERS = operators.methods("list", "adds", "extends") | operators.methods("dict", "adds", "extends")
#: `self.x = …`, `self.x: T = …`, `self.x[i] = …`, `self.x.append(…)`, and names in quotes that `setattr` may take.
_KEPT = re.compile(rf"\.\s*(\w+)(?=[^=\n()]*=(?!=))|\.\s*(\w+)\s*\.\s*(?:{'|'.join(sorted(ADDERS))})\b")
_ADDING = ADDERS | {"add_module"}
_QUOTED = re.compile(r"""["']([A-Za-z_]\w*)["']""")
_REGISTERING = re.compile(r"setattr|register_|add_module")
#: How many classes of one file may share objects with each other.
_MAX_FAMILY = 100


class Record:
    """The names in the text of a file: functions by name, and the functions that store something under an attribute."""

    def __init__(self, module: ModuleFacts) -> None:
        self._module = module
        #: The attributes in which methods keep scores for others that draw from them, as far as that was asked.
        self.wanted: set[str] = set()
        #: The values stored under attributes, by the class whose objects have them; by no class if it may be any.
        self._values: dict[str, dict[str, list[tuple[Function, Value, bool]]]] = {}
        #: The same values by function.
        self._kept: dict[Function, dict[str, list[tuple[Value, bool]]]] = {}

    @cached_property
    def functions(self) -> dict[str, list[Function]]:
        """Functions and methods by name, but for those that are called by another name."""
        found: dict[str, list[Function]] = {}
        for function in self._module.all_functions():
            if function.name not in UNNAMED:
                found.setdefault(function.name, []).append(function)
        return found

    @cached_property
    def keeping(self) -> dict[str, list[Function]]:
        """For each attribute, the functions that may store a value under it."""
        found: dict[str, list[Function]] = {}
        for function in (*self._module.all_functions(), self._module.body):
            text = function.text
            names = {name for pair in _KEPT.findall(text) for name in pair if name}
            if _REGISTERING.search(text):
                names.update(_QUOTED.findall(text))
            for name in names:
                found.setdefault(name, []).append(function)
        return found

    def values(self, name: str, family: frozenset[str] | None = None) -> Iterator[tuple[Function, Value, bool]]:
        """The values stored under an attribute, each with its function and whether that stores it in its `self`.

        With `family`, values that methods store in their `self` count only for these classes.
        """
        found = self._values.get(name)
        if found is None:
            found = self._values[name] = {}
            for function in self.keeping.get(name, ()):
                for value, is_own in self._stored_values(function).get(name, ()):
                    owner = function.owner.name if is_own and function.owner is not None else ""
                    found.setdefault(owner, []).append((function, value, is_own))
        for owner in found if family is None else ("", *sorted(family)):
            yield from found.get(owner, ())

    def _stored_values(self, function: Function) -> dict[str, list[tuple[Value, bool]]]:
        """For each attribute, the values that a function stores there, and whether it does so in its `self`."""
        found = self._kept.get(function)
        if found is None:
            found = self._kept[function] = {}
            for name, value, is_own in _stored_attributes(function):
                found.setdefault(name, []).append((value, is_own))
        return found

    def release(self) -> None:
        """Drops the values of bodies, which are about to be freed."""
        self._values.clear()
        self._kept.clear()
        self.wanted.clear()

    @cached_property
    def families(self) -> dict[str, frozenset[str]]:
        """For each class of the file, those that it may share objects with: bases, and bases of these, in the file.

        A class of a large family only knows its own bases: else all methods of all classes would be looked at for each.
        """
        found = {cls.name: {cls.name} for cls in self._module.classes.values()}
        for cls in self._module.classes.values():
            for base in cls.bases:
                name = (dotted(base) or "").rpartition(".")[2]
                family = found.get(name, set()) | found[cls.name]
                if len(family) <= _MAX_FAMILY:
                    found.update(dict.fromkeys(family, family))
                elif name in found:
                    found[cls.name] = {*found[cls.name], name}
        return {name: frozenset(family) for name, family in found.items()}

    def related(self, cls: Class) -> Iterator[Class]:
        """The classes of the file that may share objects with one, itself among them."""
        return (own for name in self.families[cls.name] for own in self.own[name])

    def stored_by(self, name: str) -> frozenset[str]:
        """The attributes that methods called `name` store."""
        stores = (
            event.target
            for function in self.functions.get(name, ())
            if function.owner is not None
            for event in function.flow.of(EventKind.STORE)
        )
        return frozenset(str(target.data) for target in stores if target is not None and target.op is Op.ATTR)

    @cached_property
    def own(self) -> dict[str, list[Class]]:
        """The classes of the file by their last names."""
        found: dict[str, list[Class]] = {}
        for cls in self._module.classes.values():
            found.setdefault(cls.name, []).append(cls)
        return found


def _stored_attributes(function: Function) -> Iterator[tuple[str, Value, bool]]:
    """The attributes that a function stores, each with the value and whether it is stored in its `self`."""
    for event in function.flow.events:
        target = event.target
        if event.kind is EventKind.STORE and target is not None:
            while target.op is Op.INDEX:
                target = target.args[0]
            if target.op is Op.ATTR:
                yield str(target.data), event.value, is_self(target.args[0])
        elif event.kind is EventKind.CALL:
            yield from _attributes_of_call(event.value)


def _attributes_of_call(call: Value) -> Iterator[tuple[str, Value, bool]]:
    """The attributes to which a call may add an argument, or under whose name it may store one."""
    callee = call.callee
    owner = callee.args[0] if callee.op is Op.ATTR else callee
    is_adding = owner.op is Op.ATTR and owner is not callee
    names = {arg.data for arg in call.args[1:] if arg.op is Op.CONST and isinstance(arg.data, str)}
    if is_adding and (callee.data in _ADDING or owner.data in names):
        is_own = is_self(owner.args[0])
        yield from ((str(owner.data), arg, is_own) for arg in call.args[1:])
        names.discard(owner.data)
    if names:
        is_own = any(map(is_self, (owner, *call.args[1:])))
        yield from ((name, arg, is_own) for name in sorted(names) for arg in call.args[1:])
