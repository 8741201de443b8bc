"""Constructors of layers that never call the one of `nn.Module`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.heap import Shell
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.classes.lives import Lives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project

_REGISTERING = operators.methods("Module", "registers")


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
            found = _first_kept(cls, constructor, project)
            calls = constructor.flow.of(EventKind.CALL)
            if found.target is not None or not any(self_attribute(event.value.callee) for event in calls):
                yield found


def _calls_others(constructor: Function, cls: Class, seen: tuple[Function, ...] = ()) -> bool:
    """Whether a constructor calls another one, hands its object on, or calls a method that may do so."""
    for event in constructor.flow.of(EventKind.CALL):
        call = event.value
        if call.callee.op is Op.ATTR and call.callee.data in ("__init__", "__setstate__"):
            return True
        if any(map(_holds_self, call.args[1:])):
            return True
        name = self_attribute(call.callee)
        if name is not None and name not in _REGISTERING:
            method = cls.methods.get(name)
            if (
                method is None
                or "super" in method.words
                or method in seen
                or _calls_others(method, cls, (*seen, method))
            ):
                return True
    return any(event.value.data == "__dict__" for event in constructor.flow.reads)


def _refuses(constructor: Function) -> bool:
    """Whether a constructor does nothing but raise."""
    events = constructor.flow.events
    return any(e.kind is EventKind.RAISE for e in events) and not any(e.kind is EventKind.STORE for e in events)


def _holds_self(value: Value) -> bool:
    """Whether an argument is the object itself, or a display that holds it."""
    if value.op in (Op.TUPLE, Op.LIST, Op.SET, Op.DICT, Op.STARRED):
        return any(map(_holds_self, value.args))
    return value.op is Op.PARAM and value.data == "self"


def _first_kept(cls: Class, constructor: Function, project: Project) -> Uninitialised:
    for store in project.of(Lives).of(project.classes.model(cls)).stores:
        layers = any(isinstance(atom, Shell) and atom.is_layer for atom in store.atoms)
        parameters = any(isinstance(atom, Shell) and atom.kind == "parameter" for atom in store.atoms)
        is_kept = store.is_sure and store.name is not None and store.place is not None
        if is_kept and store.function is not None and store.function.owner is cls and (layers or parameters):
            return Uninitialised(cls, constructor, store.place, store.name or "", is_layer=layers)
    return Uninitialised(cls, constructor)
