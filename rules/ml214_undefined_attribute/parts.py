"""Attributes of other objects than `self` that nothing sets: of parts, of models in scripts, and behind wrappers."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.attributes import names_in
from modellint.graph.definitions import DefinedClass, External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, is_self, self_attribute, walk_all

from .barred import CATCHING, is_never_reached
from .computed_names import sets_by_computed_name
from .named_parts import takes_any_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

_ASKING = frozenset(("isinstance", "hasattr", "getattr", "callable", "issubclass", "type", "dir", "vars"))
#: Methods that return the layer that they get.
_ITSELF = operators.methods("Module", "itself")
_COMPILE = "torch.compile"
#: Functions that set no attribute of their arguments that they do not read themselves.
_HARMLESS = ("builtins.", "torch.", "copy.", "typing.", "logging.", "os.", "sys.", "time.", "math.", "json.")
#: Values that may be an object of a certain class.
_OBJECTS = (Op.ATTR, Op.CALL, Op.GLOBAL, Op.CHOICE, Op.PARAM, Op.INDEX)
_MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Thing:
    """An object of a certain class. `made` constructs it, `wrapper` is the class of torch around it, if any."""

    made: queries.Operand
    cls: Class | None
    wrapper: str = ""


@dataclass(frozen=True, slots=True)
class Things:
    """The objects that a value may be, if nothing but constructors sets the `attributes` that lead to them."""

    alternatives: tuple[Thing, ...]
    attributes: tuple[tuple[Class, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """A read of an attribute of an object, where nothing sets it. `value` is the read, or the call of `hasattr`."""

    function: Function
    event: Event
    value: Value
    name: str
    thing: Thing
    known: frozenset[str]

    @property
    def is_asked(self) -> bool:
        return self.value.op is Op.CALL


def missing_of_others(module: ModuleFacts, project: Project) -> Iterator[Missing]:
    """The reads in a file of attributes that objects of a certain class, or wrappers of these, do not have."""
    finder: _Finder | None = None
    for function in (*module.all_functions(), module.body):
        seen: set[str] = set()
        for value, event in _reads(function):
            is_asked = value.op is Op.CALL
            name = str(value.args[2].data if is_asked else value.data)
            owner = value.args[1] if is_asked else value.args[0]
            if name in seen or name.startswith("__") or owner.op not in _OBJECTS or _is_of_layers(name):
                continue
            finder = finder or _Finder(module, project)
            things = finder.of(queries.Operand(owner, function, project))
            found = None if things is None else _lacking(name, things.alternatives, project, is_asked=is_asked)
            if things is None or found is None:
                continue
            if not _is_unguarded(name, event, function, project, is_asked=is_asked):
                continue
            if any(_is_handed_out(owner, one, function, project) for one in things.alternatives):
                continue
            cls = function.owner
            if cls is not None and is_never_reached(event, function, cls, project):
                continue
            if _is_set_anywhere(name, module, project):
                continue
            if not all(_is_settled(cls, attribute, project) for cls, attribute in things.attributes):
                continue
            seen.add(name)
            yield Missing(function, event, value, name, found, _known(found, project))


def _is_of_layers(name: str) -> bool:
    """True if each layer has an attribute of this name."""
    return name in (queries.layer_members("torch.nn.Module") or ())


def _reads(function: Function) -> Iterator[tuple[Value, Event]]:
    """The reads of attributes of other objects than `self`, and calls of `hasattr`, each with its event.

    Those that a conditional expression chooses, or `and` and `or`, are left out, unless they are called.
    """
    seen: set[int] = set()
    for event in function.flow.events:
        if event.kind is EventKind.DELETE:
            continue
        pending = [event.value, *(event.target.args if event.target is not None else ())]
        while pending:
            value = pending.pop()
            if id(value) in seen or value.op in (Op.BOOL, Op.LAMBDA):
                continue
            if value.op is Op.CHOICE and any(one is not value.args[0] for one in value.args):
                continue
            seen.add(id(value))
            if (value.op is Op.ATTR and len(value.args) == 1 and not is_self(value.args[0])) or _is_hasattr(value):
                yield value, event
            pending += value.args


def _is_hasattr(value: Value) -> bool:
    """True for a call of `hasattr` with a constant name."""
    is_named = value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data == "hasattr"
    return is_named and len(value.args) == 3 and not value.data and value.args[2].op is Op.CONST


class _Finder:
    """Finds the objects that values of a file are. Parts of an object are searched for once."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self._module, self._project = module, project
        self._parts: dict[tuple[Class, str], Things | None] = {}

    def of(self, operand: queries.Operand, depth: int = 0) -> Things | None:
        """The objects that a value may be; None if one of them is not known."""
        value, function, project = operand.value, operand.function, self._project
        is_global = value.op is Op.ATTR and project.names.definition(function.module, value) is not None
        if depth > _MAX_DEPTH or is_global:
            return None
        name, owner = self_attribute(value), function.owner
        if name is not None and len(value.args) == 1:
            if owner is None:
                return None
            key = owner, name
            if key not in self._parts:
                self._parts[key] = self._followed(operand, depth, (key,))
            return self._parts[key]
        attributes: tuple[tuple[Class, str], ...] = ()
        if value.op is Op.ATTR and len(value.args) == 1:
            holders = self.of(operand.of(value.args[0]), depth + 1)
            if holders is None or any(one.wrapper or one.cls is None for one in holders.alternatives):
                return None
            own = ((one.cls, str(value.data)) for one in holders.alternatives if one.cls is not None)
            attributes = (*holders.attributes, *own)
        return self._followed(operand, depth, attributes)

    def _followed(
        self, operand: queries.Operand, depth: int, attributes: tuple[tuple[Class, str], ...]
    ) -> Things | None:
        return operand.conclude(lambda leaves: self._things(leaves, depth, attributes))

    def _things(
        self, leaves: Iterable[queries.Operand], depth: int, attributes: tuple[tuple[Class, str], ...]
    ) -> Things | None:
        found: list[Things] = []
        for leaf in leaves:
            if leaf.is_none:
                continue
            if leaf.part is not None or leaf.value.op is not Op.CALL or leaf.is_applied:
                return None
            made = self._made(leaf, depth)
            if made is None:
                return None
            found.append(made)
        things = tuple(chain.from_iterable(one.alternatives for one in found))
        needed = dict.fromkeys((*attributes, *chain.from_iterable(one.attributes for one in found)))
        return Things(things, tuple(needed)) if things else None

    def _made(self, leaf: queries.Operand, depth: int) -> Things | None:
        value, function, project = leaf.value, leaf.function, self._project
        definition = project.names.definition(function.module, value.callee)
        if definition is None and value.callee.op is Op.ATTR and value.callee.data in _ITSELF:
            return self.of(leaf.of(value.callee.args[0]), depth + 1)
        if isinstance(definition, External):
            if definition.name == _COMPILE:
                compiled = value.argument(0, "model")
                return None if compiled is None else self.of(leaf.of(compiled), depth + 1)
            if queries.wrapper_members(definition.name) is not None:
                return self._wrapped(leaf, definition.name, depth)
            return None
        model = leaf.made_class() if isinstance(definition, DefinedClass) else None
        if model is None or model.cls is None or not model.is_module:
            return None
        return Things((Thing(leaf, model.cls),))

    def _wrapped(self, leaf: queries.Operand, wrapper: str, depth: int) -> Things:
        given = leaf.value.argument(0, "module")
        inner = None if given is None else self.of(leaf.of(given), depth + 1)
        if inner is None or not all(_is_settled(*one, self._project) for one in inner.attributes):
            return Things((Thing(leaf, None, wrapper),))
        classes = {one.cls for one in inner.alternatives if not one.wrapper}
        return Things((Thing(leaf, classes.pop() if len(classes) == 1 else None, wrapper),))


def _is_settled(owner: Class, name: str, project: Project) -> bool:
    """True if nothing but the constructors of a class and its bases sets an attribute of its objects."""
    key = "settled", owner.module.path, owner.qualname, owner.line, name
    return project.once(key, lambda: _is_set_by_constructors(owner, name, project))


def _is_set_by_constructors(owner: Class, name: str, project: Project) -> bool:
    if not queries.is_searchable(owner.module, project) or not queries.stored_values(owner, name, project):
        return False
    family = queries.family(owner, project)
    above = {one.cls for one in project.classes.model(owner).mro()}
    for one in family.classes:
        said = queries.mentions(one, project)
        if said.stores_any or name in one.methods or name in one.attributes:
            return False
        if one not in above and (name in said.stored or said.may_set(name)):
            return False
    return not _is_set_anywhere(name, owner.module, project)


def _is_set_anywhere(name: str, module: ModuleFacts, project: Project) -> bool:
    """True if a file of the project sets an attribute of this name on an object other than its own."""
    modules = chain(
        (module,), *(queries.files_mentioning(module, project, word) for word in (f". {name}", f"' {name}"))
    )
    return any(queries.owners_set(name, one, project) for one in modules)


def _lacking(name: str, things: tuple[Thing, ...], project: Project, *, is_asked: bool) -> Thing | None:
    """The first of some objects if each of them lacks an attribute; of `hasattr`, only wrappers count."""
    for thing in things:
        if thing.wrapper:
            if name in (queries.wrapper_members(thing.wrapper) or (name,)):
                return None
            if is_asked and (thing.cls is None or not _has(thing.cls, name, project)):
                return None
        elif is_asked or thing.cls is None or not _lacks(thing.cls, name, project):
            return None
    return things[0] if things else None


def _has(cls: Class, name: str, project: Project) -> bool:
    """True if a class defines a method or sets an attribute of this name itself, or a readable base does."""
    model = project.classes.model(cls)
    return model.has_method(name) or bool(queries.stored_values(cls, name, project))


def _lacks(cls: Class, name: str, project: Project) -> bool:
    """True if objects of exactly this class certainly have no attribute of this name by their own code."""
    key = "lacks", cls.module.path, cls.qualname, cls.line, name
    return project.once(key, lambda: _certainly_lacks(cls, name, project))


def _certainly_lacks(cls: Class, name: str, project: Project) -> bool:
    if f"{cls.qualname}.{name}" in cls.module.classes or not queries.is_searchable(cls.module, project):
        return False
    if queries.may_have(cls, name, project):
        return False
    model = project.classes.model(cls)
    above = [one.cls for one in model.mro() if one.cls is not None]
    return not any(takes_any_names(one, project) or not queries.escapes(one, project).is_known for one in above)


def _is_unguarded(name: str, event: Event, function: Function, project: Project, *, is_asked: bool) -> bool:
    """True if a function does not ask whether an object has the attribute, nor expects that it lacks it."""
    if not CATCHING.isdisjoint(event.handled):
        return False
    call = queries.Call(event, function, project)
    if not is_asked and (not _ASKING.isdisjoint(call.questions) or call.is_expected_to_fail):
        return False
    return is_asked or not (_is_told(name, function) or _is_asked_by_callers(name, function))


def _is_told(name: str, function: Function) -> bool:
    """True if a function has a name in a string."""
    values = walk_all(function.flow.evaluated()) if name in function.words else ()
    return any(name in names_in(value) for value in values if value.op is Op.CONST)


def _is_asked_by_callers(name: str, function: Function) -> bool:
    """True if another method of the class that calls this one asks for the attribute, or catches the error."""
    for caller in function.owner.methods.values() if function.owner is not None else ():
        if caller is function or function.name not in caller.words:
            continue
        events = caller.flow.of(EventKind.CALL)
        calls = [event for event in events if self_attribute(event.value.callee) == function.name]
        if calls and (_is_told(name, caller) or any(not CATCHING.isdisjoint(event.handled) for event in calls)):
            return True
    return False


def _is_handed_out(owner: Value, thing: Thing, function: Function, project: Project) -> bool:
    """True if an object may get attributes by names that are not written: of a library, or by `setattr`."""
    places = {id(owner), id(thing.made.value)}
    name = self_attribute(owner)
    for here in {function, thing.made.function}:
        if sets_by_computed_name(here):
            return True
        for event in here.flow.of(EventKind.CALL):
            given = event.value.args[1:]
            if any(id(one) in places or (name is not None and self_attribute(one) == name) for one in given):
                definition = project.names.definition(here.module, event.value.callee)
                if isinstance(definition, External) and not definition.name.startswith(_HARMLESS):
                    return True
                target = queries.Call(event, here, project).target
                if target is not None and target.function is not None and sets_by_computed_name(target.function):
                    return True
    return False


def _known(thing: Thing, project: Project) -> frozenset[str]:
    """The names that an object has by its own class, for suggestions."""
    if thing.cls is None or thing.wrapper:
        return frozenset()
    found: set[str] = set()
    for model in project.classes.model(thing.cls).mro():
        if model.cls is not None:
            found |= {*model.cls.methods, *model.cls.attributes, *queries.mentions(model.cls, project).stored}
    return frozenset(found)
