"""The effects (MOD sets) of methods, so that calls in constructors can wait until an attribute they may store is read.

A framework's constructors end in calls that set up attributes which no look-up needs. The attributes that a method may
store follow from its value graph, and from those of all functions that it may call; if they don't, the call is not
deferred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.summaries import Summaries
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Nested, Op, Value, is_self
from modellint.link.classes.calls import ADDERS, REGISTRARS
from modellint.link.names import DefinedClass, DefinedFunction, External

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.theory import Gate
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Flow
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: The most functions that a method may call transitively.
_MAX_FUNCTIONS = 64
#: Names that give access to attributes and variables in ways that the value graph doesn't show.
_HIDDEN = frozenset(("__dict__", "vars", "globals", "locals", "exec", "eval"))
_STORING = frozenset(("setattr", "builtins.setattr", "__setattr__"))
#: Operations that return a part of a container, or the changed container itself.
_BEHIND = frozenset((Op.UPDATE, Op.INDEX, Op.ITEM, Op.UNPACK))
#: Operations that make a new object.
_FRESH = frozenset((Op.LIST, Op.TUPLE, Op.DICT, Op.SET, Op.COMPREHENSION, Op.CONST, Op.STRING, Op.BIN))


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a method and of all functions that it may call.

    `own`: the attributes of its object that it may store; `others`: those of other objects; `words`: all names that
    the code mentions or stores; `modules`: the files of the called functions.
    """

    own: frozenset[str]
    others: frozenset[str]
    words: frozenset[str]
    modules: frozenset[ModuleFacts]


class _UntoldError(Exception):
    """The stored attributes can't be told by name."""


def effects(function: Function, model: ClassModel, project: Project, gate: Gate) -> Effects | None:
    """The effects of a method on an object of a class; None if unknown."""

    def compute() -> Effects | None:
        try:
            return _Reading(function, model, project, gate).effects()
        except _UntoldError:
            return None

    return project.once(("effects", function, model), compute)


class _Reading:
    """Collects the effects of a method from its events and those of its transitive callees."""

    def __init__(self, function: Function, model: ClassModel, project: Project, gate: Gate) -> None:
        self._model = model
        self._project = project
        self._gate = gate
        #: Functions to read, each with True if it is a method of the object itself.
        self._pending = [(function, True)]
        self._own: set[str] = set()
        self._others: set[str] = set()
        #: The attributes of the object whose containers are changed in place.
        self._changed: set[str] = set()

    def effects(self) -> Effects:
        words: set[str] = set()
        modules: set[ModuleFacts] = set()
        for function, is_own in self._pending:
            if is_own and self._gate.is_idle_in(function, self._model):
                continue  # it is not run
            if len(self._pending) > _MAX_FUNCTIONS or not _HIDDEN.isdisjoint(function.words):
                raise _UntoldError
            modules.add(function.module)
            words |= function.words
            for event in function.flow.events:
                if event.target is not None and event.kind in (EventKind.STORE, EventKind.AUGMENT):
                    self._store(event.target, function, is_own=is_own)
                if event.kind is EventKind.AUGMENT and event.value.args[1].op not in (Op.CONST, Op.STRING):
                    self._change(event.value.args[0], function, is_own=is_own)
                if event.kind is EventKind.CALL:
                    self._call(event.value, function, is_own=is_own)
        if not self._changed <= self._own:
            raise _UntoldError  # somebody else may have the container
        names = frozenset(words) | self._own | self._others
        # What a framework's method does has the same names for most classes, and they are many.
        names = self._project.once(("words of effects", names), lambda: names)
        return Effects(frozenset(self._own), frozenset(self._others), names, frozenset(modules))

    # -- stores ----------------------------------------------------------------------------------------------------

    def _store(self, target: Value, function: Function, *, is_own: bool) -> None:
        if target.op is Op.ATTR:
            if is_self(target.args[0]) or self._is_of_project(target.args[0], function):
                self._keep(str(target.data), target.args[0], is_own=is_own)
        elif target.op is Op.INDEX:
            self._change(target.args[0], function, is_own=is_own)

    def _is_of_project(self, owner: Value, function: Function) -> bool:
        """True if a value may be an object on the heap; stores in any other have no effect on a run."""
        return bool(self._project.of(Summaries).body(function).objects(owner))

    def _keep(self, name: str, owner: Value, *, is_own: bool) -> None:
        """Note the attribute that an event stores."""
        if is_self(owner):
            (self._own if is_own else self._others).add(name)
        else:
            self._others.add(name)

    def _change(self, container: Value, function: Function, *, is_own: bool) -> None:
        """Note an in-place change of a container: a fresh one, or one that an attribute of the object holds.

        Raises _UntoldError for any other.
        """
        pending, seen = [container], {id(container)}
        for value in pending:
            if value.op in _BEHIND:
                parts = value.args[:1]
            elif value.op is Op.CHOICE or value.op is Op.BOOL:
                parts = value.args
            elif value.op is Op.ATTR:
                if not is_own or not is_self(value.args[0]):
                    raise _UntoldError
                self._changed.add(str(value.data))
                continue
            elif value.op in _FRESH or self._makes_container(value, function):
                continue
            else:
                raise _UntoldError
            pending += [part for part in parts if id(part) not in seen]
            seen.update(map(id, parts))

    def _makes_container(self, value: Value, function: Function) -> bool:
        """True if a value is a fresh object: made by a class, or by a function outside the project."""
        if value.op is not Op.CALL or value.callee.op is not Op.GLOBAL:
            return False
        return not isinstance(self._project.names.definition(function.module, value.callee), DefinedFunction)

    # -- calls -----------------------------------------------------------------------------------------------------

    def _call(self, call: Value, function: Function, *, is_own: bool) -> None:
        callee = call.callee
        if isinstance(callee.data, Nested):
            if callee.data.flow is not None:
                raise _UntoldError
            return  # its events stand among those of the function
        name = str(callee.data) if callee.op in (Op.ATTR, Op.GLOBAL) else ""
        if name in _STORING:
            named = next((arg for arg in call.positional if arg.op is Op.CONST and isinstance(arg.data, str)), None)
            if named is None or not call.positional:
                raise _UntoldError
            owner = callee.args[0] if callee.op is Op.ATTR and named is call.positional[0] else call.positional[0]
            self._keep(str(named.data), owner, is_own=is_own)
            return
        is_told = callee.op is Op.ATTR and is_self(callee.args[0])
        gets_object = is_own and not is_told and any(map(is_self, call.args[1:]))
        if gets_object and not isinstance(self._project.names.definition(function.module, callee), External):
            raise _UntoldError  # it may store anything there
        if callee.op is Op.ATTR:
            self._method(call, name, callee.args[0], function, is_own=is_own)
        else:
            self._function(call, function)

    def _method(self, call: Value, name: str, owner: Value, function: Function, *, is_own: bool) -> None:
        is_of_self = is_self(owner)
        is_super = owner.op is Op.CALL and owner.callee.data == "super"
        if is_of_self or is_super:
            if name in REGISTRARS:
                named = call.argument(0, "name")
                if named is None or named.op is not Op.CONST:
                    raise _UntoldError
                self._keep(str(named.data), owner if is_of_self else Value(Op.PARAM, (), "self", None), is_own=is_own)
            self._add(self._methods(name, function, is_own=is_own), is_own=is_own)
            return
        if name in ADDERS or name in REGISTRARS or name.endswith("_"):
            self._change(owner, function, is_own=is_own)
        definition = self._project.names.definition(function.module, call.callee)
        if isinstance(definition, DefinedFunction):
            self._add([definition.function], is_own=False)
        elif not isinstance(definition, External):
            record = self._project.of(Summaries).record(function.module)
            self._add(record.functions.get(name, ()), is_own=False)

    def _methods(self, name: str, function: Function, *, is_own: bool) -> Iterator[Function]:
        """The methods of a name in the object's MRO, overridden ones included."""
        owner = self._model.cls if is_own else function.owner
        for model in () if owner is None else self._project.classes.model(owner).mro():
            if model.cls is not None and name in model.cls.methods:
                yield model.cls.methods[name]

    def _function(self, call: Value, function: Function) -> None:
        definition = self._project.names.definition(function.module, call.callee)
        if isinstance(definition, DefinedFunction):
            self._add([definition.function], is_own=False)
        elif isinstance(definition, DefinedClass):
            methods = definition.cls.methods
            self._add([methods[name] for name in ("__init__", "__post_init__") if name in methods], is_own=False)

    def _add(self, functions: Iterable[Function], *, is_own: bool) -> None:
        known = {function for function, _ in self._pending}
        self._pending += [(one, is_own) for one in dict.fromkeys(functions) if one not in known]


def object_changing(flow: Flow) -> frozenset[int]:
    """The ids of a body's calls that may change objects, without those inside other values, which evaluate them."""
    used = {id(arg) for value in flow.values for arg in value.args}
    used.update(id(event.value) for event in flow.of(EventKind.STORE))
    calls = (event.value for event in flow.of(EventKind.CALL) if id(event.value) not in used)
    return frozenset(id(call) for call in calls if _changes_objects(call))


def _changes_objects(call: Value) -> bool:
    """True if a call in a constructor may store something in the object or in a container."""
    callee = call.callee
    if callee.op is Op.ATTR:
        owner = callee.args[0]
        is_above = callee.data == "__init__" or (owner.op is Op.CALL and owner.callee.data == "super")
        if is_above or is_self(owner) or callee.data in ADDERS or callee.data in REGISTRARS:
            return True
    return any(is_self(arg) for arg in call.args[1:])
