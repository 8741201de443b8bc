"""Classes related to a class by inheritance, and the callees that its methods pass `self` to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op
from modellint.link.calls.doubts import subclasses
from modellint.link.classes.decorated import decorator_effects
from modellint.link.classes.spoken import spoken
from modellint.link.names import DefinedClass, DefinedFunction, External

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class
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
    models = [project.classes.model(one) for one in (cls, *subclasses(project, cls))]
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
    is_known &= not any(one.head.keywords or spoken(one, project).stores_any for one in members)
    return Family(tuple(members), frozenset(libraries), frozenset(given), is_known, is_read)


def _owners_of_borrowed_methods(cls: Class, project: Project) -> Iterator[Class]:
    """The owners, and their bases, of methods that are called with `self` of this class: `Other.__init__(self)`."""
    for target in handed_on(cls, project).targets:
        owner = target.function.owner if isinstance(target, DefinedFunction) else None
        if owner is not None:
            yield from (model.cls for model in project.classes.model(owner).mro() if model.cls is not None)


@dataclass(frozen=True, slots=True)
class HandedOn:
    """The callees that the methods of a class pass `self` to.

    Not `is_known`: one of them cannot be read and may set attributes of the object.
    """

    targets: tuple[DefinedClass | DefinedFunction, ...]
    is_known: bool


def handed_on(cls: Class, project: Project) -> HandedOn:
    """The callees that the methods of a class pass `self` to."""
    return project.once(("handed on", cls.module.path, cls.qualname, cls.line), lambda: _handed_on(cls, project))


def _handed_on(cls: Class, project: Project) -> HandedOn:
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
    return HandedOn(tuple(targets), is_known)
