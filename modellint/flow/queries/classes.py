"""Queries about classes: their relatives, who reads and sets their attributes, what decorators and libraries give them.

Most of them search other files of the project, so ask them last, when a finding is all but sure. A class is a class
statement (`graph.python.Class`), `project.classes.model(cls)` has its model: bases, MRO, methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.graph.immutable import dataclass
from modellint.graph.python import Class
from modellint.graph.value import EventKind, Op
from modellint.knowledge import surface
from modellint.link.calls import doubts
from modellint.link.classes import attributes, decorated, object_runs
from modellint.link.classes.attributes import attribute_mentions
from modellint.link.classes.decorated import decorator_effects
from modellint.link.names import DefinedClass, DefinedFunction, External

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.classes.attributes import AttributeMentions
    from modellint.link.classes.decorated import Decorated
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: Beginnings of names of functions that add no attributes to their arguments.
_HARMLESS = ("builtins.", "torch.jit.is_", "typing.", "copy.", "logging.")


@dataclass(frozen=True, slots=True)
class Family:
    """The classes whose code runs for objects of a class: bases, subclasses, other bases of these, borrowed methods.

    `given` are attributes set by decorators. Not `is_known`: one of the classes has a base that cannot be read,
    or may have attributes of any name. Not `is_read`: one of them has a decorator that cannot be read.
    """

    classes: tuple[Class, ...]
    libraries: frozenset[str]
    given: frozenset[str]
    is_known: bool
    is_read: bool


def family(cls: Class, project: Project) -> Family:
    """The classes whose code runs for objects of `cls`, and the attributes that decorators give them."""
    return project.once(("family", cls.module.path, cls.qualname, cls.line), lambda: _family(cls, project))


def _family(cls: Class, project: Project) -> Family:
    models = [project.classes.model(one) for one in (cls, *doubts.subclasses(project, cls))]
    members: dict[Class, None] = {}
    libraries: set[str] = set()
    given: set[str] = set()
    is_known = is_read = True
    for model in models:
        is_known &= model.is_complete
        for current in model.mro():
            if current.cls is None:
                libraries.add(current.name)
            elif current.cls not in members:
                members[current.cls] = None
                done = decorator_effects(current.cls, project)
                given |= done.names
                is_known &= not done.alter
                is_read &= done.is_known
                models.extend(map(project.classes.model, done.bases))
    for one in list(members):
        for other in _owners_of_borrowed_methods(one, project):
            members.setdefault(other)
    is_known &= not any(one.head.keywords or attribute_mentions(one, project).stores_any for one in members)
    return Family(tuple(members), frozenset(libraries), frozenset(given), is_known, is_read)


def _owners_of_borrowed_methods(cls: Class, project: Project) -> Iterator[Class]:
    """The owners, and their bases, of methods that are called with `self` of this class: `Other.__init__(self)`."""
    for target in escapes(cls, project).targets:
        owner = target.function.owner if isinstance(target, DefinedFunction) else None
        if owner is not None:
            yield from (model.cls for model in project.classes.model(owner).mro() if model.cls is not None)


@dataclass(frozen=True, slots=True)
class Escapes:
    """The definitions that get an object of a class as an argument of a call in its own methods: `register(self)`.

    Not `is_known`: one of them cannot be read, and may read or set attributes of the object.
    """

    targets: tuple[DefinedClass | DefinedFunction, ...]
    is_known: bool


def escapes(cls: Class, project: Project) -> Escapes:
    """The definitions that the methods of a class pass `self` to: there, other code gets hold of the object."""
    return project.once(("escapes", cls.module.path, cls.qualname, cls.line), lambda: _escapes(cls, project))


def _escapes(cls: Class, project: Project) -> Escapes:
    targets: dict[DefinedClass | DefinedFunction, None] = {}
    is_known = True
    for function in cls.methods.values():
        for event in function.flow.of(EventKind.CALL):
            call = event.value
            if not any(arg.op is Op.PARAM and arg.data == "self" for arg in call.args[1:]):
                continue
            definition = project.names.definition(function.module, call.callee)
            if isinstance(definition, DefinedClass | DefinedFunction):
                targets[definition] = None
            elif isinstance(definition, External):
                is_known &= definition.name.startswith(_HARMLESS)
            else:
                is_known &= call.callee.op is Op.ATTR and definition is None
    return Escapes(tuple(targets), is_known)


def is_layer(cls: Class | ClassModel, project: Project) -> bool | None:
    """True for a class that derives from `nn.Module`, None for one that looks so: it has `forward` and an unknown base.

    False for any other class.
    """
    found = object_runs.is_layer(project.classes.model(cls) if isinstance(cls, Class) else cls)
    return None if found is False else bool(found)


def subclasses(cls: Class, project: Project) -> tuple[Class, ...]:
    """The classes of the project that derive from a class, directly or not; none if the project is not searchable."""
    return doubts.subclasses(project, cls)


def layer_members(name: str) -> frozenset[str] | None:
    """The attributes and methods of objects of a layer class of torch, such as `torch.nn.Linear`; None if unknown.

    Those that known libraries set on layers (`accelerate`'s hooks) count, too.
    """
    members = surface.layer_members(name)
    return None if members is None else members.union(knowledge.SET_ON_LAYERS)


def mentions(cls: Class, project: Project) -> AttributeMentions:
    """The attributes that the methods of a class read, set, or have in strings.

    `mentions(cls, project).may_name("proj")` is True if a string contains the name, or a computed name may be it;
    `may_set` is False for a string that is only compared.
    """
    return attribute_mentions(cls, project)


def call_effects(cls: Class, project: Project) -> Decorated:
    """The effects of functions that files call with the class, at module level: `with_cache(Decoder)`.

    They are those of a decorator: names that it sets, bases that it adds.
    """
    return decorated.handed_over(cls, project)


# -- attributes, by name -------------------------------------------------------------------------------------------


def is_attribute_read(name: str, module: ModuleFacts, project: Project, *, of_others: bool = False) -> bool:
    """True if a file reads an attribute `name` of any object, or has it in a string.

    With `of_others`, reads of the attribute of `self` do not count.
    """
    return attributes.is_attribute_read(name, module, project, of_others=of_others)


def owners_read(name: str, module: ModuleFacts, project: Project) -> frozenset[str]:
    """The names of the objects other than `self` whose attribute `name` a file reads: `config` of `config.name`.

    An object has the name of its variable, and that of the class, function or attribute that it comes from.
    """
    return attributes.owners_read(module, name, project)


def owners_set(name: str, module: ModuleFacts, project: Project) -> frozenset[str]:
    """The names of the objects other than `self` whose attribute `name` a file sets: `layer` of `layer.name = 1`.

    An object without a name counts as an empty one, and so does `setattr` with this name.
    """
    return attributes.owners_set(module, name, project)
