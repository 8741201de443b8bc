"""Layers that a class keeps and nothing reads: no method of its hierarchy, no owner, nothing that it is given to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.calls.doubts import is_generator_source, is_tried_out
from modellint.link.classes.attributes import (
    PREFIX,
    QUOTED,
    READ,
    STORED,
    calls_with_self,
    code_of,
    family,
    is_harmless,
)
from modellint.link.names import External
from modellint.link.values.callers import mentioning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

_COMMENT = re.compile(r"#[^\n]*")
#: Methods in which layers are only filled with their first values.
_INITIAL = re.compile(r"_*(?:init|initiali[sz]e|reset)(?:_\w*)?_*|__init__|_?(?:re)?set_parameters|weights?_init")
#: What goes through all that an object holds, or finds it by a computed name.
_ANY = re.compile(
    r"(?<![\w.])self\s*\.\s*(?:children|modules|named_children|named_modules|_modules)\b"
    r"|\bgetattr\(\s*self\s*,\s*[^\"']|\beval\b|(?<![\w.])self\s*\[|(?<![\w.])self\.__dict__|\bvars\(\s*self\s*\)"
)
_KEPT_FOR = re.compile(
    r"#[^\n]*\b(?:checkpoint|compat\w*|state[_ ]dict|pretrained|legacy|unused|not used)", re.IGNORECASE
)
_FILLING = re.compile(r"\binit\s*\.|\.(?:weight|bias|data|apply)\b")


@dataclass(frozen=True, slots=True)
class Unused:
    """An assignment in a constructor that keeps a trainable layer which nothing reads."""

    cls: Class
    function: Function
    event: Event
    name: str

    @property
    def target(self) -> Value:
        assert self.event.target is not None
        return self.event.target


def unused(module: ModuleFacts, project: Project) -> Iterator[Unused]:
    """The trainable layers that the classes of a file keep and nothing in the project reads."""
    for cls in module.classes.values():
        constructor = cls.methods.get("__init__")
        model = project.classes.model(cls)
        if constructor is None or not model.is_module or not _are_bases_known(model, project):
            continue
        stored = set(STORED.findall(_COMMENT.sub("", constructor.text)))
        for current in model.mro():
            if stored and current.cls is not None:
                stored -= _read_by(current.cls, project)
        if stored and not _is_open(cls, project):
            yield from _kept(cls, constructor, stored, project)


def _are_bases_known(model: ClassModel, project: Project) -> bool:
    """Whether all bases can be read, or belong to libraries whose layers read what they set themselves."""
    return model.is_complete or all(
        project.classes.of(base) is not None or (isinstance(base, External) and base.name in knowledge.LAYERS_ELSEWHERE)
        for current in model.mro()
        for base in current.facts.bases
    )


def _read_by(cls: Class, project: Project) -> frozenset[str]:
    """The names that the methods of a class read on `self`, those that fill in first values left out."""
    return project.once(("reads", cls.module.path, cls.qualname, cls.line), lambda: _find_read_by(cls))


def _find_read_by(cls: Class) -> frozenset[str]:
    found: set[str] = set()
    for function in cls.methods.values():
        if not _INITIAL.fullmatch(function.name):
            code = _COMMENT.sub("", function.text)
            found.update(name for name in READ.findall(code) if name not in found)
    return frozenset(found)


def _is_open(cls: Class, project: Project) -> bool:
    """Whether layers of a class may be read in ways that names do not tell."""
    if is_generator_source(project, cls.module):
        return True
    for one in family(cls, project).classes:
        for function in one.methods.values():
            code = _COMMENT.sub("", function.text)
            is_initial = _INITIAL.fullmatch(function.name) is not None
            if not is_initial and _ANY.search(code):
                return True
            if is_initial and re.search(r"\bgetattr\(\s*self\s*,\s*[^\"']", code):
                return True
            is_given = "(self" in code or "self," in code or ", self" in code
            if is_given and not all(is_harmless(call, function, project) for call in calls_with_self(function)):
                return True
        for value in one.attributes.values():
            if value.op in (Op.ATTR, Op.GLOBAL) and value.data not in ("None", "True", "False"):
                definition = project.names.definition(one.module, value)
                if not isinstance(definition, External) or not definition.name.startswith("builtins."):
                    return True  # a method that is borrowed from another class
    return False


def _kept(cls: Class, constructor: Function, names: set[str], project: Project) -> Iterator[Unused]:
    events = [
        event
        for event in constructor.flow.of(EventKind.STORE)
        if event.target is not None and self_attribute(event.target) in names
    ]
    if not events or is_tried_out(project, constructor, events[0]):
        return
    names = {str(event.target.data) for event in events if event.target is not None}
    for one in family(cls, project).classes:
        code = code_of(one, project)
        names -= _read_by(one, project)
        quoted = {word for text in QUOTED.findall(code) for word in text.split(".")}
        prefixes = tuple(PREFIX.findall(code))
        names = {name for name in names if name not in quoted and not (prefixes and name.startswith(prefixes))}
    seen: set[str] = set()
    for event in events:
        name = str(event.target.data) if event.target is not None else ""
        if name not in names or name in seen:
            continue
        seen.add(name)
        stores = [other for other in events if other.target is not None and other.target.data == name]
        if not all(_is_only_kept(constructor, other, name) for other in stores):
            continue
        child = project.classes.model(cls).children.get(name)
        if child is None or project.classes.state(child, trained=True) is not True:
            continue
        if not _speaks_of_checkpoints(cls, event) and not _is_read_outside(name, cls, project):
            yield Unused(cls, constructor, event, name)


def _is_only_kept(constructor: Function, event: Event, name: str) -> bool:
    """Whether the constructor does nothing with a layer but keep it, and fill in its first values."""
    value = event.value
    if value.op not in (Op.CALL, Op.CHOICE):
        return False
    for other in constructor.flow.events:
        if other is event:
            continue
        if other.kind is EventKind.STORE and other.value is value:
            return False
        if any(part is value for part in other.value.args[1 if other.kind is EventKind.CALL else 0 :]):
            return False
    lines = constructor.module.source.lines
    for read in constructor.flow.reads:
        if read.value.data == name:
            line = _COMMENT.sub("", lines[read.value.line - 1])
            if "requires_grad" in line or not _FILLING.search(line):
                return False
    return True


def _speaks_of_checkpoints(cls: Class, event: Event) -> bool:
    assert event.target is not None
    lines = cls.module.source.lines[max(event.target.line - 2, 0) : event.value.end_line]
    return any(_KEPT_FOR.search(line) for line in lines)


def _is_read_outside(name: str, cls: Class, project: Project) -> bool:
    """Whether code that knows a class of the family reads the attribute of something other than its own `self`."""
    escaped = re.escape(name)
    read = re.compile(rf"(?:(?<![\w.])(?!self\b)\w+|\.\w+|[\])])\s*\.\s*{escaped}\b(?!\s*=(?!=))|[\"']{escaped}[\"'.]")
    relatives = family(cls, project).classes
    modules: dict[ModuleFacts, None] = {one.module: None for one in relatives}
    for one in relatives:
        if one is cls or one.module is cls.module:
            modules.update(dict.fromkeys(mentioning(project, cls.module, one.name, name)))
    for one in relatives:
        for function in one.methods.values():
            for call in calls_with_self(function) if "self" in function.words else ():
                definition = project.names.definition(function.module, call.callee)
                target = getattr(definition, "function", None) or getattr(definition, "cls", None)
                if target is not None:
                    modules[target.module] = None
    return any(read.search(_COMMENT.sub("", module.text)) for module in modules)
