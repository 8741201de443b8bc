"""Attributes that a layer reads and nothing sets: neither its bases, its subclasses, nor others.

The names in each class by itself are a record (`spoken`); those that seem to be missing are looked for in subclasses,
in mixins that stand beside, and in all other code that mentions the name.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.attributes import names_in, set_attribute
from modellint.graph.definitions import BARE_BASES, DefinedClass, DefinedFunction, External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, dotted, walk_all

from .barred import is_never_reached
from .computed_names import is_filled_by_others
from .named_parts import takes_any_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.definitions import Definition
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

_OWN = re.compile(r"__\w+")
#: Methods that each object runs.
ENTERED = ("__init__", "forward")


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


def undefined_reads(module: ModuleFacts, project: Project) -> Iterator[Undefined]:
    """The reads of attributes in the layers of a file that no class, subclass or outsider sets."""
    for cls in module.classes.values():
        unset = _unset(cls, project)
        if not unset:
            continue
        model = project.classes.model(cls)
        suspects = _suspects(unset, cls, model, project) if model.is_module and model.is_complete else set()
        if not suspects or queries.is_generator_source(module, project) or _is_never_made(cls):
            continue
        if not queries.is_searchable(module, project):
            return
        if any(_is_doubtful(current.cls, project) for current in model.mro() if current.cls is not None):
            continue
        known = _set_in_family(cls, project)
        if known is None:
            continue
        missing = {name for name in suspects - known if not _is_set_outside(name, cls, project)}
        if missing and not is_filled_by_others(cls, project):
            yield from _reads(cls, missing, known, project)


def set_by_others(names: frozenset[str], cls: Class, project: Project, by: Function | None = None) -> frozenset[str]:
    """Those of the names that other code than one method of a class sets, or may set: `by`, or else the constructor."""
    if not names:
        return names
    model = project.classes.model(cls)
    is_known = model.is_complete and queries.is_searchable(cls.module, project)
    if not is_known or queries.is_generator_source(cls.module, project):
        return names
    found = queries.family(cls, project)
    libraries = [queries.layer_members(library) for library in found.libraries]
    if not found.is_known or any(members is None for members in libraries):
        return names
    if any(takes_any_names(one, project) for one in found.classes):
        return names
    own = queries.mentions(cls, project)
    known = {*found.given, *cls.methods, *cls.attributes, *cls.annotations}
    known |= {name for name in names if name.startswith(own.prefixes) or _is_told_or_stored(name, cls, by)}
    for members in libraries:
        known |= members or frozenset()
    for one in found.classes:
        known |= queries.call_effects(one, project).names
        if one is not cls:
            said = queries.mentions(one, project)
            known.update(one.methods, one.attributes, one.annotations, said.stored, said.told - said.compared)
            known |= {name for name in names if said.may_set(name)}
    return frozenset(name for name in names if name in known or _is_set_outside(name, cls, project))


def _is_told_or_stored(name: str, cls: Class, by: Function | None) -> bool:
    """True if a method besides `by`, or the constructor, stores under a name, or any method has it in a string.

    A string that is the key of the value that a method stores does not count: `self.name = config["name"]`.
    """
    for function in (*cls.methods.values(), *cls.hidden):
        if name not in function.words:
            continue
        kept = [event for event in function.flow.events if set_attribute(event) == name]
        if kept and not (function.name == "__init__" if by is None else function is by):
            return True
        keys = {id(part) for event in kept for part in event.value.walk()}
        if any(name in names_in(value) for value in walk_all(function.flow.evaluated()) if id(value) not in keys):
            return True
    return False


def _is_never_made(cls: Class) -> bool:
    """True if the constructor always raises."""
    constructor = cls.methods.get("__init__")
    ends = constructor.flow.of(EventKind.RAISE) if constructor is not None else ()
    return any(event.guard is None for event in ends)


def _unset(cls: Class, project: Project) -> set[str]:
    """The names that the methods of a class read on `self` and that it does not seem to set itself."""
    own = queries.mentions(cls, project)
    names = {name for name in own.read | own.filled if not _OWN.match(name)}
    names -= {*cls.methods, *cls.attributes, *cls.annotations, *own.stored}
    return {name for name in names if not own.may_set(name)}


def _gives_attributes(base: Definition | None, project: Project) -> bool:
    """True if a base is a class of a library that nothing describes: it may set any attribute."""
    return isinstance(base, External) and base.name not in BARE_BASES and project.classes.of(base) is None


def _suspects(names: set[str], cls: Class, model: queries.ClassModel, project: Project) -> set[str]:
    """Those of the names that neither a class nor its bases seem to set."""
    for current in model.mro():
        if not names:
            return names
        if current.cls is None:
            members = queries.layer_members(current.name)
            if members is None and current.facts.bases:
                return set()
            names -= members or frozenset()
        else:
            one = current.cls
            said = queries.mentions(one, project)
            if any(_gives_attributes(base, project) for base in current.facts.bases):
                return set()
            names -= {*one.methods, *one.attributes, *one.annotations, *said.stored, *_kept_by_frame(one, project)}
            names = {name for name in names if not said.may_set(name)}
    return {name for name in names if f"{cls.qualname}.{name}" not in cls.module.classes}


def _kept_by_frame(cls: Class, project: Project) -> set[str]:
    """The parameters of a constructor that a library's function may store, which finds them in its caller's frame."""
    constructor = cls.methods.get("__init__")
    for event in constructor.flow.dropped if constructor is not None else ():
        call = event.value
        if constructor is not None and len(call.args) == 1 and call.callee.op is Op.GLOBAL:
            definition = project.names.definition(cls.module, call.callee)
            is_known = isinstance(definition, External) and definition.name.startswith(("builtins.", "torch."))
            if not is_known and not isinstance(definition, DefinedClass | DefinedFunction):
                return {parameter.name for parameter in constructor.parameters}
    return set()


def _is_doubtful(cls: Class, project: Project) -> bool:
    """True if a class or one of its bases may be another class than its name says."""
    if cls.qualname in cls.module.rebound:
        return True
    for base in cls.bases:
        written = dotted(base.args[0] if base.op is Op.INDEX else base)
        if written is None:
            return True
        head = written.partition(".")[0]
        if head in cls.module.rebound or queries.is_shadowed(written, cls.module, project):
            return True
    return False


def _set_in_family(cls: Class, project: Project) -> frozenset[str] | None:
    """The names that classes of the family set or have in strings; None where they may set any."""
    found = queries.family(cls, project)
    if not found.is_known:
        return None
    names: set[str] = set(found.given)
    for library in found.libraries:
        members = queries.layer_members(library)
        if members is None:
            return None
        names |= members
    for one in found.classes:
        said = queries.mentions(one, project)
        names.update(one.methods, one.attributes, one.annotations, said.stored, said.told - said.compared)
        if _is_altered(one, project) or takes_any_names(one, project):
            return None
        names |= queries.call_effects(one, project).names
        own = queries.mentions(cls, project)
        names.update(name for name in own.read | own.filled if said.may_set(name))
    return frozenset(names)


def may_differ(cls: Class, project: Project) -> bool:
    """True if a class may be another one than its name says, or unknown code may set attributes of its objects."""
    line = [current.cls for current in project.classes.model(cls).mro() if current.cls is not None]
    family = queries.family(cls, project).classes
    return any(_is_doubtful(one, project) for one in line) or any(_is_altered(one, project) for one in family)


def _is_altered(cls: Class, project: Project) -> bool:
    """True if code may change a class, or gets its objects from it, that cannot be read."""
    later = queries.call_effects(cls, project)
    is_known = later.is_known and queries.escapes(cls, project).is_known
    return later.alter or bool(later.bases) or not is_known


def _is_set_outside(name: str, cls: Class, project: Project) -> bool:
    """True if a file of the project sets an attribute of this name on another object than its own."""
    # `self.config.name` beside `self.name` tells that `config.name = …` sets the other one.
    functions = [function for function in cls.methods.values() if name in function.words]
    values = walk_all(value for function in functions for value in function.flow.evaluated())
    others = {
        str(value.args[0].data)
        for value in values
        if value.op is Op.ATTR and value.data == name and value.args[0].op is Op.ATTR
    }
    words = (f". {name}", f"' {name}")
    modules = chain((cls.module,), *(queries.files_mentioning(cls.module, project, word) for word in words))
    return any(not queries.owners_set(name, module, project) <= others for module in modules)


def _reads(cls: Class, names: set[str], known: frozenset[str], project: Project) -> Iterator[Undefined]:
    """The first read of each name in each method of a class that some object of it reaches."""
    for function in cls.methods.values():
        if function.is_static or function.is_class_method or not names & function.words:
            continue
        seen: set[str] = set()
        for event in function.flow.reads:
            name = str(event.value.data)
            if name not in names or name in seen or len(event.value.args) > 1:
                continue
            if not is_never_reached(event, function, cls, project):
                seen.add(name)
                yield Undefined(cls, function, event, known)


def is_called(function: Function, project: Project) -> bool:
    """True if code of the project mentions a method, or torch calls it."""
    if function.name == "forward" or _is_special(function.name):
        return True
    modules = chain((function.module,), queries.files_mentioning(function.module, project, function.name))
    return any(queries.is_attribute_read(function.name, module, project) for module in modules)


def is_reached_at_once(function: Function, cls: Class, project: Project, seen: tuple[Function, ...] = ()) -> bool:
    """True if objects reach a method by unconditional reads, starting where torch or other code calls them."""
    name, found = function.name, queries.family(cls, project)
    if name in ENTERED or _is_special(name) or not found.is_known:
        return True
    return bool(queries.paths_mentioning(cls.module, project, f". {name}")) or any(
        event.guard is None and is_reached_at_once(caller, cls, project, (*seen, function))
        for one in found.classes
        for caller in one.methods.values()
        if caller is not function and caller not in seen and name in caller.words
        for event in caller.flow.reads
        if event.value.data == name
    )


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def is_named_elsewhere(cls: Class, project: Project) -> bool:
    """True if code outside a class names it."""
    module = cls.module
    if queries.is_mentioned_elsewhere(module, project, cls.name):
        return True
    others = (function for function in module.all_functions() if function.owner is not cls)
    values = (
        *(value for one in module.classes.values() if one is not cls for value in one.bases),
        *module.body.flow.evaluated(),
    )
    is_named = any(value.op is Op.GLOBAL and value.data == cls.name for value in walk_all(values))
    return is_named or any(cls.name in function.words for function in others)
