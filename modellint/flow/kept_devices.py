"""Devices that a constructor keeps in an attribute: they say where an object was made, and not where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op, self_attribute
from modellint.link.names import External

if TYPE_CHECKING:
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.project import Project

_DEVICE = "torch.device"
_HOST = "cpu"


@dataclass(frozen=True, slots=True)
class KeptDevice:
    """A device in the attribute `name`, which nothing but the constructor sets.

    `parameter` is the constructor's parameter that names it, and by default it is the CPU, or the default device; None
    if it is always that of a new tensor or layer.
    """

    name: str
    parameter: str | None


def kept_device(model: ClassModel, name: str, project: Project) -> KeptDevice | None:
    """The device that the constructor of a layer's class keeps in an attribute; None for anything else."""
    return project.once(("kept device", model, name), lambda: _find(model, name, project))


def _find(model: ClassModel, name: str, project: Project) -> KeptDevice | None:
    if model.has_own_adder(name) or not model.is_complete:
        return None
    owners = [one.cls for one in model.mro() if one.cls is not None]
    stores = [(method, event, cls) for cls in owners for method, event in cls.stores(name)]
    if len(stores) != 1 or stores[0][0].name != "__init__" or stores[0][1].loops:
        return None
    constructor, event, cls = stores[0]
    parameter = _parameter_named(event.value, constructor, project)
    if parameter is not None:
        default = next((one.default for one in constructor.parameters if one.name == parameter), None)
        is_known = default is not None and _is_host(default, constructor, project, or_none=True)
        return KeptDevice(name, parameter) if is_known else None
    is_fixed = _is_host(event.value, constructor, project) or _is_of_new(event.value, constructor, cls, project)
    return KeptDevice(name, None) if is_fixed else None


def _parameter_named(value: Value, function: Function, project: Project) -> str | None:
    """The parameter that a value is, or that it makes a device of."""
    if value.op is Op.CALL and _is_device(value, function, project) and len(value.args) == 2:
        value = value.args[1]
    return str(value.data) if value.op is Op.PARAM and value.data != "self" else None


def _is_device(call: Value, function: Function, project: Project) -> bool:
    return project.names.definition(function.module, call.callee) == External(_DEVICE)


def _is_host(value: Value, function: Function, project: Project, *, or_none: bool = False) -> bool:
    """True if a value is the CPU; with `or_none`, it may be None, too."""
    if value.op is Op.CALL and _is_device(value, function, project) and len(value.args) == 2:
        value = value.args[1]
    return value.op is Op.CONST and (value.data == _HOST or (or_none and value.data is None))


def _is_of_new(value: Value, constructor: Function, cls: Class, project: Project) -> bool:
    """True if a value is the device of a parameter that the constructor makes, or of one of a layer of torch."""
    if value.op is not Op.ATTR or value.data != "device" or value.args[0].op is not Op.ATTR:
        return False
    tensor = value.args[0]
    holder = tensor if self_attribute(tensor) is not None else tensor.args[0]
    name = self_attribute(holder)
    made = [] if name is None else [event.value for _, event in cls.stores(name)]
    if len(made) != 1 or made[0].op is not Op.CALL or any("device" in part.data for part in _calls(made[0])):
        return False
    definition = project.names.definition(constructor.module, made[0].callee)
    if not isinstance(definition, External) or not definition.name.startswith("torch.nn."):
        return False
    row = operators.row(definition.name)
    return holder is not tensor or (row is not None and "trained" in row.facets)


def _calls(value: Value) -> list[Value]:
    return [part for part in value.walk() if part.op is Op.CALL]
