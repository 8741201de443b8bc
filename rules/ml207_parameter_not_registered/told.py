"""Devices that a constructor is told: by all that make its objects, which are looked for in the whole project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.constructed import constructed
from modellint.flow.library.operations import are_host
from modellint.graph.value import Op, walk_all
from modellint.link.calls.doubts import subclasses
from modellint.link.names import DefinedClass
from modellint.link.searched import mentioning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project


def is_told_host(name: str, model: ClassModel, project: Project) -> bool:
    """Whether all that make objects of a class, of which there are some, give the CPU for a constructor's parameter."""
    constructor, cls = model.method("__init__"), model.cls
    names = [] if constructor is None else [one.name for one in constructor.parameters[1:]]
    if cls is None or name not in names or cls.head.decorators:
        return False
    classes = (cls, *subclasses(project, cls))
    speaking = [(one, module) for one in classes for module in mentioning(project, cls.module, one.name)]
    if any(_is_handed_on(one, module, project) for one, module in speaking):
        return False
    modules = dict.fromkeys(module for _, module in speaking)
    models = map(project.classes.model, classes)
    told = [one.name for one in models if one.method("__init__") is constructor]
    made = [one for module in modules for one in constructed(module, told, project)]
    given = [one.argument(names.index(name), name).atoms if one.arguments.is_complete else () for one in made]
    return bool(given) and all(map(are_host, given))


def _is_handed_on(cls: Class, module: ModuleFacts, project: Project) -> bool:
    """Whether a file does something else with a class than to call it or derive from it: keeps it, say."""
    calls, meant = set(), []
    for part in _parts(cls, module):
        if part.op is Op.CALL:
            calls.add(id(part.callee))
        found = project.names.definition(module, part) if part.op in (Op.GLOBAL, Op.ATTR) else None
        if isinstance(found, DefinedClass) and found.cls is cls:
            meant.append(id(part))
    return not calls.issuperset(meant)


def _parts(cls: Class, module: ModuleFacts) -> Iterator[Value]:
    attributes = (value for one in module.classes.values() for value in one.attributes.values())
    values = [*module.constants.values(), *attributes]
    for function in (*module.all_functions(), module.body):
        if cls.name in function.words:
            values += (part for one in function.flow.events for part in (one.value, one.target) if part is not None)
    return walk_all(values)
