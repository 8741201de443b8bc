"""Constructors of layers that never call the one of `nn.Module`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.names import DefinedClass, External

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project

_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


@dataclass(frozen=True, slots=True)
class Uninitialised:
    """A class whose constructor calls no other one, and the first layer or parameter that it assigns, if any."""

    cls: Class
    constructor: Function
    target: Value | None = None
    attribute: str = ""
    is_layer: bool = False


def uninitialised(module: ModuleFacts, project: Project) -> Iterator[Uninitialised]:
    """The layers of a file that `nn.Module` never sets up."""
    for cls in module.classes.values():
        constructor = cls.methods.get("__init__")
        if constructor is None or "super" in constructor.words or cls.head.keywords:
            continue
        if constructor.signature.decorators or cls.head.decorators:
            continue
        if _calls_others(constructor, cls) or _refuses(constructor):
            continue
        model = project.classes.model(cls)
        if model.is_module and model.is_complete and not model.has_own_adder("__new__"):
            yield _first_kept(cls, constructor, project)


def _calls_others(constructor: Function, cls: Class) -> bool:
    """Whether a constructor calls another one, hands its object on, or calls a method that may do so."""
    for event in constructor.flow.of(EventKind.CALL):
        call = event.value
        if call.callee.op is Op.ATTR and call.callee.data in ("__init__", "__setstate__"):
            return True
        if any(part.op is Op.PARAM and part.data == "self" for part in call.args[1:]):
            return True
        name = self_attribute(call.callee)
        if name is not None:
            method = cls.methods.get(name)
            if method is None or not {"super", "__init__"}.isdisjoint(method.words):
                return True
    return any(event.value.data == "__dict__" for event in constructor.flow.reads)


def _refuses(constructor: Function) -> bool:
    """Whether a constructor does nothing but raise."""
    return any(event.guard is None for event in constructor.flow.of(EventKind.RAISE))


def _first_kept(cls: Class, constructor: Function, project: Project) -> Uninitialised:
    for event in constructor.flow.of(EventKind.STORE):
        name = None if event.target is None else self_attribute(event.target)
        if name is None or event.value.op is not Op.CALL or event.handled:
            continue
        definition = project.names.definition(constructor.module, event.value.callee)
        if isinstance(definition, External) and definition.name in _PARAMETERS:
            return Uninitialised(cls, constructor, event.target, name)
        found = project.classes.of(definition) if isinstance(definition, DefinedClass | External) else None
        if found is not None and found.is_module:
            return Uninitialised(cls, constructor, event.target, name, is_layer=True)
    return Uninitialised(cls, constructor)
