"""Layers that may hold objects of a class: they make them, are given them, or hold something that does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.python import Class, alternatives
from modellint.graph.value import EventKind, Op
from modellint.link.names import DefinedClass
from modellint.link.values.callers import neighbours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

#: How many layers that may hold objects of a class are found, how many names lead to them, and how many of these are
#: of classes that inherit from it.
_MAX_HOLDERS = 6
_MAX_NAMED = 12
_MAX_BELOW = 4


def holders(cls: Class, project: Project) -> dict[ClassModel, dict[str, ClassModel]]:
    """The layers in sight that may hold objects of a class, with the constructor parameters that take such an object.

    Their constructors, or methods that store attributes, mention its name, that of a class which inherits from it, or
    that of a function or plain class which mentions one. Those that inherit from such a layer follow.
    """
    found: dict[ClassModel, dict[str, ClassModel]] = {}
    model, near = project.classes.model(cls), cls.module.classes.values()
    below = [one for one in near if one is not cls and model in project.classes.model(one).mro()]
    kinds = [cls, *below[:_MAX_BELOW]]
    named: list[Class | Function] = [*kinds]
    for one in named:
        if len(named) > _MAX_NAMED or len(found) > _MAX_HOLDERS:
            break
        for function in _mentioning(one, project):
            by = function.owner or function
            kind = project.classes.model(by) if isinstance(by, Class) and by not in kinds else None
            is_layer = kind is not None and kind.is_module is True
            if by not in named and not is_layer:
                named.append(by)
            holder = kind if is_layer and _may_keep(function) else None
            if holder is not None:
                found.setdefault(holder, {})
            if isinstance(one, Class) and one in kinds:
                held = project.classes.model(one)
                for layer, parameter in _given_by(function, one, project):
                    found.setdefault(layer, {})[parameter] = held
                if holder in found and function.name == "__init__":
                    found[holder].update(dict.fromkeys(_annotated_parameters(function, one, project), held))
    for holder, given in list(found.items())[:_MAX_HOLDERS]:
        for layer in _below(holder, project):
            found.setdefault(layer, given if layer.own_method("__init__") is None else {})
    return dict(list(found.items())[:_MAX_HOLDERS])


def _below(layer: ClassModel, project: Project) -> Iterator[ClassModel]:
    """The layers in sight that inherit from a layer."""
    if layer.cls is None:
        return
    for module in neighbours(project, layer.cls.module, layer.cls.name):
        for model in map(project.classes.model, module.classes.values()):
            if model is not layer and layer in model.mro():
                yield model


def _may_keep(function: Function) -> bool:
    """True if a method, or one that calls it, may store the object in an attribute; a property gives it to others."""
    if _stores(function) or function.is_property:
        return True
    methods = () if function.owner is None else function.owner.methods.values()
    return any(function.name in method.words for method in methods if _stores(method))


def _stores(function: Function) -> bool:
    return function.name == "__init__" or bool(function.flow.stores)


def _mentioning(one: Class | Function, project: Project) -> Iterator[Function]:
    for module in neighbours(project, one.module, one.name):
        functions = (*module.all_functions(), module.body)
        yield from (function for function in functions if one.name in function.words and function is not one)


def _annotated_parameters(function: Function, cls: Class, project: Project) -> Iterator[str]:
    """The parameters that are annotated with a class."""
    for parameter in function.parameters:
        named = () if parameter.annotation is None else alternatives(parameter.annotation)
        if any(project.names.definition(function.module, name) == DefinedClass(cls) for name in named):
            yield parameter.name


def _given_by(function: Function, cls: Class, project: Project) -> Iterator[tuple[ClassModel, str]]:
    """The layers to whose constructors a function passes new objects of a class, each with the parameter."""
    for event in function.flow.of(EventKind.CALL):
        call = event.value
        made = project.names.definition(function.module, call.callee)
        constructor = made.cls.methods.get("__init__") if isinstance(made, DefinedClass) else None
        if not isinstance(made, DefinedClass) or constructor is None or call.has_unpacking:
            continue
        for name, given in constructor.bind(call).items():
            kind = project.names.definition(function.module, given.callee) if given.op is Op.CALL else None
            model = project.classes.model(made.cls) if kind == DefinedClass(cls) else None
            if model is not None and model.is_module is True:
                yield model, name
