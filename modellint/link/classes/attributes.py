"""What a class sets, reads and hands on under names of its object: its bases, subclasses and others included.

The first look is at text without comments, as most names are plainly there; what seems to be missing is looked for in
the bodies themselves, in subclasses, in mixins that stand beside, and in whatever else mentions the name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.graph.value import EventKind, Op, dotted
from modellint.knowledge import surface
from modellint.link.calls.doubts import is_generator_source, subclasses
from modellint.link.names import DefinedClass, DefinedFunction, External
from modellint.link.values.callers import mentioning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

_COMMENT = re.compile(r"#[^\n]*")
READ = re.compile(r"(?<![\w.])self\s*\.\s*([A-Za-z_]\w*)\b")
STORED = re.compile(r"(?<![\w.])self\s*\.\s*([A-Za-z_]\w*)\b(?=\s*(?::[^=\n]+)?=(?!=))")
QUOTED = re.compile(r"""["']([A-Za-z_][\w.]*)["']""")
PREFIX = re.compile(r"""\b[fF][rR]?["']([A-Za-z_]\w*)\{""")
_WORD = re.compile(r"[A-Za-z_]\w*")
#: What may give an object attributes of any name.
_DYNAMIC = re.compile(
    r"\bsetattr\(|__dict__|\bvars\(|__getattr__|__getattribute__|__setattr__|\bexec\(|save_hyperparameters"
    r"|\bregister_(?:buffer|parameter|module)\(\s*(?:name\s*=\s*)?[^\"'\s]|\badd_module\(\s*(?:name\s*=\s*)?[^\"'\s]"
)
_OWN = re.compile(r"__\w+")


def code_of(cls: Class, project: Project) -> str:
    """The text of a class statement without its comments."""
    return project.once(("code", cls.module.path, cls.qualname, cls.line), lambda: _COMMENT.sub("", cls.text))


@dataclass(frozen=True, slots=True)
class Family:
    """The classes that have to do with objects of a class: its bases, its subclasses, and their other bases.

    Not `is_known`: one of them has a base that cannot be read, or may have attributes of any name.
    """

    classes: tuple[Class, ...]
    libraries: frozenset[str]
    is_known: bool


def family(cls: Class, project: Project) -> Family:
    """The family of a class."""
    return project.once(("family", cls.module.path, cls.qualname, cls.line), lambda: _family(cls, project))


def _family(cls: Class, project: Project) -> Family:
    models = [project.classes.model(one) for one in (cls, *subclasses(project, cls))]
    members: dict[Class, None] = {}
    libraries: set[str] = set()
    is_known = True
    for model in models:
        is_known &= model.is_complete
        for current in model.mro():
            if current.cls is not None:
                members[current.cls] = None
            else:
                libraries.add(current.name)
    for one in list(members):
        for other in _borrowed(one, project):
            members.setdefault(other)
    is_known &= not any(one.head.keywords or _DYNAMIC.search(code_of(one, project)) for one in members)
    return Family(tuple(members), frozenset(libraries), is_known)


def _borrowed(cls: Class, project: Project) -> Iterator[Class]:
    """Classes whose methods are called on an object of this one: `Other.__init__(self)`."""
    for function in cls.methods.values():
        if "(self" in function.text:
            for call in calls_with_self(function):
                definition = project.names.definition(function.module, call.callee)
                if isinstance(definition, DefinedFunction) and definition.function.owner is not None:
                    for model in project.classes.model(definition.function.owner).mro():
                        if model.cls is not None:
                            yield model.cls


def calls_with_self(function: Function) -> Iterator[Value]:
    for event in function.flow.of(EventKind.CALL):
        if any(arg.op is Op.PARAM and arg.data == "self" for arg in event.value.args[1:]):
            yield event.value


# -- what is read and nowhere set ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Undefined:
    """A read of `self.name` in a method, where nothing sets it. `known` are names that are set."""

    cls: Class
    function: Function
    event: Event
    known: frozenset[str]

    @property
    def value(self) -> Value:
        return self.event.value

    @property
    def name(self) -> str:
        return str(self.value.data)


def undefined(module: ModuleFacts, project: Project) -> Iterator[Undefined]:
    """The reads of attributes in the layers of a file that no class, subclass or outsider sets."""
    for cls in module.classes.values():
        model = project.classes.model(cls)
        suspects = _suspects(cls, model, project) if model.is_module and model.is_complete else set()
        if not suspects or is_generator_source(project, module):
            continue
        if any(_is_doubtful(current.cls, project) for current in model.mro() if current.cls is not None):
            continue
        known = _set_in_family(cls, project)
        if known is None:
            continue
        missing = {name for name in suspects - known if not _is_set_outside(name, cls, project)}
        if missing:
            yield from _reads(cls, missing, known)


def _suspects(cls: Class, model: ClassModel, project: Project) -> set[str]:
    """The names that the methods of a class read on `self` and that neither it nor its bases seem to set."""
    names = {name for name in READ.findall(code_of(cls, project)) if not _OWN.match(name)}
    for current in model.mro():
        if not names:
            return names
        if current.cls is None:
            members = surface.layer_members(current.name)
            if members is None and current.facts.bases:
                return set()
            names -= members or frozenset()
        else:
            one = current.cls
            code = code_of(one, project)
            names -= {*one.methods, *one.attributes, *one.annotations}
            names.difference_update(STORED.findall(code))
            names.difference_update(*(_WORD.findall(text) for text in QUOTED.findall(code)) if names else ())
    return {name for name in names if f"{cls.qualname}.{name}" not in cls.module.classes}


def _is_doubtful(cls: Class, project: Project) -> bool:
    """Whether a class may be another one than the name of a base says, or decorators change what it has."""
    from modellint.link.calls.doubts import is_shadowed

    if cls.qualname in cls.module.rebound:
        return True
    for base in cls.bases:
        written = dotted(base.args[0] if base.op is Op.INDEX else base)
        if written is None:
            return True
        head = written.partition(".")[0]
        if head in cls.module.rebound or is_shadowed(project, cls.module, written):
            return True
    return False


def _set_in_family(cls: Class, project: Project) -> frozenset[str] | None:
    """The names that some class of the family sets or speaks of in quotes; None where there may be any."""
    found = family(cls, project)
    if not found.is_known:
        return None
    names: set[str] = set(knowledge.SET_ON_LAYERS)
    for library in found.libraries:
        members = surface.layer_members(library)
        if members is None:
            return None
        names |= members
    for one in found.classes:
        names.update(one.methods, one.attributes, one.annotations)
        names.update(word for text in QUOTED.findall(code_of(one, project)) for word in _WORD.findall(text))
        for function in one.methods.values():
            for event in function.flow.of(EventKind.STORE):
                if event.target is not None and event.target.op is Op.ATTR:
                    names.add(str(event.target.data))
            if not all(is_harmless(call, function, project) for call in calls_with_self(function)):
                return None
    prefixes = {prefix for one in found.classes for prefix in PREFIX.findall(code_of(one, project))}
    if prefixes:
        names.update(name for name in READ.findall(code_of(cls, project)) if name.startswith(tuple(prefixes)))
    return frozenset(names)


def is_harmless(call: Value, function: Function, project: Project) -> bool:
    """Whether a function that is given the object itself can be read, or is known to give it no attributes."""
    definition = project.names.definition(function.module, call.callee)
    if isinstance(definition, External):
        return definition.name.startswith(("builtins.", "torch.jit.is_", "typing.", "copy.", "logging."))
    if isinstance(definition, DefinedClass | DefinedFunction):
        return True
    return call.callee.op is Op.ATTR and definition is None


def _is_set_outside(name: str, cls: Class, project: Project) -> bool:
    """Whether any file of the project assigns to an attribute of this name of something other than its own `self`."""
    escaped = re.escape(name)
    assigned = re.compile(
        rf"(?:(?<![\w.])(?!self\b)(\w+)|\.(\w+)|[\])])\s*\.\s*{escaped}\b(?:\s*:[^=\n]+|[^=\n(]*)=(?!=)"
        rf"|\b(?:setattr|__setattr__|add_module|register_\w+)\(\s*[^\n]*[\"']{escaped}[\"']"
    )
    # `self.config.name` beside `self.name` tells that `config.name = …` sets the other one.
    others = set(re.findall(rf"\.(\w+)\s*\.\s*{escaped}\b", code_of(cls, project)))
    modules = dict.fromkeys((cls.module, *mentioning(project, cls.module, name)))
    found = (match for module in modules for match in assigned.finditer(module.text))
    return any((match[1] or match[2]) not in others for match in found)


def _reads(cls: Class, names: set[str], known: frozenset[str]) -> Iterator[Undefined]:
    """The first read of each name in each method of a class."""
    for function in cls.methods.values():
        if function.is_static or function.is_class_method or not names & function.words:
            continue
        seen: set[str] = set()
        for event in function.flow.reads:
            name = str(event.value.data)
            if name in names and name not in seen and len(event.value.args) == 1:
                seen.add(name)
                yield Undefined(cls, function, event, known)


def is_called(function: Function, project: Project) -> bool:
    """Whether something in the project calls a method by its name, or torch does."""
    if function.name in ("forward", "__call__") or (function.name.startswith("__") and function.name.endswith("__")):
        return True
    call = re.compile(rf"\.\s*{re.escape(function.name)}\b")
    return any(call.search(module.text) for module in _asking(function.name, function.module, project))


def is_named_elsewhere(cls: Class, project: Project) -> bool:
    """Whether anything beside its own statement names a class."""
    name = re.compile(rf"\b{re.escape(cls.name)}\b")
    for module in _asking(cls.name, cls.module, project):
        text = module.text.replace(cls.text, "") if module is cls.module else module.text
        if name.search(text):
            return True
    return False


def _asking(name: str, module: ModuleFacts, project: Project) -> Iterable[ModuleFacts]:
    return dict.fromkeys((module, *mentioning(project, module, name)))
