"""Layers that a class keeps and nothing reads: no method of its hierarchy, no owner, nothing that it is given to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.attributes import set_attribute, set_value
from modellint.graph.definitions import DefinedFunction, External
from modellint.graph.immutable import dataclass
from modellint.graph.mentions import words
from modellint.graph.value import EventKind, Op

from .filled import is_only_filled
from .kept_on_purpose import is_behind_unwritten, is_used_at_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

#: Layers of torch that call all layers that they hold.
_CONTAINERS = frozenset(("torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"))
_DISPLAYS = (Op.LIST, Op.TUPLE, Op.SET, Op.DICT, Op.STARRED)
#: Words in comments and names that say why a layer is kept though nothing reads it.
_KEPT_FOR = re.compile(r"\b(?:checkpoint|compat\w*|state[_ ]dict|pretrained|legacy|unused|not used)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unused:
    """An assignment in a constructor that keeps a trainable layer which nothing reads."""

    cls: Class
    function: Function
    event: Event
    name: str

    @property
    def target(self) -> Value:
        """The attribute that is assigned, or the call that registers it."""
        return self.event.value if self.event.target is None else self.event.target


def unused_layers(module: ModuleFacts, project: Project) -> Iterator[Unused]:
    """The trainable layers that the classes of a file keep and nothing in the project reads."""
    for cls in module.classes.values():
        constructor = cls.methods.get("__init__")
        model = project.classes.model(cls)
        if constructor is not None and model.is_module and model.are_bases_known:
            kept = _kept_layers(cls, constructor, model, project)
            if kept and queries.is_searchable(module, project) and not queries.is_generator_source(module, project):
                yield from _unread(cls, kept, project)


def _kept_layers(cls: Class, constructor: Function, model: queries.ClassModel, project: Project) -> list[Unused]:
    """The trainable layers that a constructor keeps and no method of the class or its bases reads."""
    stores: dict[str, list[tuple[Function, Event]]] = {}
    for function in cls.methods.values():
        for event in function.flow.events:
            name = set_attribute(event)
            if name is not None:
                stores.setdefault(name, []).append((function, event))
    found: list[Unused] = []
    for name, kept in stores.items():
        if any(_reads(current, name, project) for current in model.mro()):
            continue
        made = [(function, event) for function, event in kept if not _is_none(set_value(event))]
        functions = dict.fromkeys((constructor, *(function for function, _ in made)))
        if not made or any(_is_empty(set_value(event), function, project) for function, event in made):
            continue
        is_only_kept = all(_is_only_kept(function, event) for function, event in made) and all(
            is_only_filled(function, name, project) for function in functions
        )
        if not is_only_kept or _is_kept_for_others(cls, *made[0], name):
            continue
        if _is_trained(name, cls, model, project):
            found.append(Unused(cls, *made[0], name))
    return found


def _is_trained(name: str, cls: Class, model: queries.ClassModel, project: Project) -> bool:
    """True if a child has parameters to train: whatever the arguments of the constructor are, or by their defaults."""
    flow = queries.flow(cls.module, project)
    child = flow.children(model).get(name)
    if child is not None and child.has_parameters is None:
        child = flow.children(model, by_default=True).get(name)
    return child is not None and child.has_parameters is True


def _reads(model: queries.ClassModel, name: str, project: Project) -> bool:
    """True if methods of a class, or of a layer of torch, may read an attribute of its object."""
    if model.cls is not None:
        said = queries.mentions(model.cls, project)
        return said.reads_any or name in said.read or said.may_name(name)
    return model.name in _CONTAINERS or name in (queries.layer_members(model.name) or ())


def _unread(cls: Class, kept: list[Unused], project: Project) -> Iterator[Unused]:
    """Those of the layers that no relative of the class reads, nor other code that knows a relative."""
    if queries.is_trial(kept[0].function, kept[0].event, project):
        return
    relatives = queries.family(cls, project).classes
    # A class whose methods read no attribute only holds layers for others.
    is_read = any(queries.mentions(one, project).read for one in relatives)
    if not is_read or any(_is_open(one, project) for one in relatives):
        return
    constructors = [relative.methods["__init__"] for relative in relatives if "__init__" in relative.methods]
    for one in kept:
        if not all(is_only_filled(constructor, one.name, project) for constructor in constructors):
            continue  # it is handed on
        records = (queries.mentions(relative, project) for relative in relatives)
        if any(one.name in said.read or said.may_name(one.name) for said in records):
            continue
        if is_used_at_first(one.name, relatives, project) or is_behind_unwritten(one.name, relatives):
            continue
        if not _is_read_outside(one.name, cls, relatives, project):
            yield one


def _is_open(cls: Class, project: Project) -> bool:
    """True if layers that a class keeps may be read in ways that names do not show."""
    if queries.mentions(cls, project).reads_any or not queries.escapes(cls, project).is_known:
        return True
    for value in cls.attributes.values():
        if value.op in (Op.ATTR, Op.GLOBAL) and value.data not in ("None", "True", "False"):
            definition = project.names.definition(cls.module, value)
            if not isinstance(definition, External) or not definition.name.startswith("builtins."):
                return True  # a method that is borrowed from another class
    return False


def _is_none(value: Value) -> bool:
    return value.op is Op.CONST and value.data is None


def _is_only_kept(function: Function, event: Event) -> bool:
    """True if a function does nothing with a layer but store it."""
    value = set_value(event)
    if value.op not in (Op.CALL, Op.CHOICE):
        return False
    for other in function.flow.events:
        if other is event or other.value is value:
            if other.kind is EventKind.STORE and other is not event:
                return False
            continue
        given = other.value.args[1 if other.kind is EventKind.CALL else 0 :]
        if any(part is value for arg in given for part in _with_elements(arg)):
            return False
    return True


def _with_elements(value: Value) -> Iterator[Value]:
    """A value, and those inside of displays: `a` and `b` of `[a, *b]`."""
    yield value
    for part in value.args if value.op in _DISPLAYS else ():
        yield from _with_elements(part)


def _is_empty(value: Value, function: Function, project: Project) -> bool:
    """True if a parameter has no elements: it is kept to know the layer's device."""
    for part in value.walk():
        first = part.positional[0] if part.op is Op.CALL and part.positional else None
        if first is not None and first.op is Op.CONST and type(first.data) is int and first.data == 0:
            definition = project.names.definition(function.module, part.callee)
            if isinstance(definition, External) and definition.name.rpartition(".")[0] == "torch":
                return True
    return False


def _is_kept_for_others(cls: Class, function: Function, event: Event, name: str) -> bool:
    """True if a comment, or a docstring with the layer's name, says that checkpoints or old code need it."""
    first = event.value if event.target is None else event.target
    lines = cls.module.as_written(max(first.line - 2, 1), event.value.end_line)
    if any(_KEPT_FOR.search(line.partition("#")[2]) for line in lines):
        return True
    texts = (cls.docstring, function.docstring)
    return any(text is not None and name in words(text) and _KEPT_FOR.search(text) for text in texts)


def _is_read_outside(name: str, cls: Class, relatives: tuple[Class, ...], project: Project) -> bool:
    """True if code that knows a class of the family, or has an object named like one, reads the attribute."""
    modules: dict[ModuleFacts, None] = {one.module: None for one in relatives}
    for one in relatives:
        if one is cls or one.module is cls.module:
            modules.update(dict.fromkeys(queries.files_mentioning(cls.module, project, one.name, name)))
        for target in queries.escapes(one, project).targets:
            modules[target.function.module if isinstance(target, DefinedFunction) else target.cls.module] = None
    if any(queries.is_attribute_read(name, module, project, of_others=True) for module in modules):
        return True
    names = [one.name for one in (cls, *queries.subclasses(cls, project))]
    named = [one for one in names if queries.is_mentioned_elsewhere(cls.module, project, one)]
    return bool(named) and any(
        queries.is_mentioned_elsewhere(cls.module, project, one, holder)
        for module in queries.files_mentioning(cls.module, project, f". {name}")
        for holder in queries.owners_read(name, module, project)
        for one in named
    )
