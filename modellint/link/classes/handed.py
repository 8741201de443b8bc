"""New tensors that the project passes to constructors which store them unchanged."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from modellint import operators
from modellint.flow.gate import Keepers
from modellint.flow.heap import Shell
from modellint.flow.tensor_devices import Fresh
from modellint.graph.value import EventKind, Op, Parameter, called_name, self_attribute
from modellint.link.names import DefinedClass, External
from modellint.link.values.callers import neighbours

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.devices import Handed
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.names import Definition
    from modellint.link.project import Project

#: Methods of tensors whose result stays on the tensor's device, or goes to the GPU if there is one.
_STAYING = operators.methods("Tensor", "passed") - {"to", "type", "type_as"}
#: Facets of operators whose result has dimensions and is where the operands are.
_CALCULATING = frozenset(("passed", "same-shape", "spreads"))
#: Methods of tensors whose result is so.
_KEEPING = operators.methods("Tensor", *_CALCULATING) - operators.methods("Tensor", "gives") - {"to", "type", "type_as"}
_MAX_DEPTH = 8


def handed(module: ModuleFacts, project: Project) -> dict[Class, dict[str, Handed]]:
    """The new tensors passed in the same file to constructor parameters that are stored unchanged, one for each.

    A parameter of which an attribute is stored has a namespace, if the argument's class stores a new tensor there. One
    of which something else is stored that may be of a tensor has the argument's class.
    """
    found: dict[Class, dict[str, Handed]] = {}
    own = {cls.name for cls in module.classes.values()}
    for cls in module.classes.values():
        for part in _parts(cls):
            annotation = part.parameter.annotation
            kind = None if annotation is None else project.names.definition(module, annotation)
            _take(found, cls, part, kind, project)
    for function in (*module.all_functions(), module.body):
        for event in function.flow.of(EventKind.CALL) if not own.isdisjoint(function.words) else ():
            call = event.value
            if call.callee.op is not Op.GLOBAL or call.callee.data not in own or call.has_unpacking:
                continue
            definition = project.names.definition(module, call.callee)
            if isinstance(definition, DefinedClass) and definition.cls.module is module:
                constructor = definition.cls.methods.get("__init__")
                bound = {} if constructor is None else constructor.bind(call)
                for name in _stored_parameters(definition.cls):
                    given = bound.get(name)
                    new = None if given is None else _new_tensor(given, function, project)
                    if new is not None:
                        found.setdefault(definition.cls, {}).setdefault(name, new)
                for part in _parts(definition.cls):
                    given = bound.get(part.parameter.name)
                    made = given if given is not None and given.op is Op.CALL else None
                    kind = None if made is None else project.names.definition(module, made.callee)
                    _take(found, definition.cls, part, kind, project)
    return found


class _Part(NamedTuple):
    """The `attribute` of an argument that a constructor stores, itself (`is_whole`) or in what it calculates."""

    parameter: Parameter
    attribute: str
    is_whole: bool


def _parts(cls: Class) -> Iterator[_Part]:
    """The attributes of constructor parameters that are stored, or of which something is."""
    function = cls.methods.get("__init__")
    events = () if function is None else chain.from_iterable(function.flow.stores.values())
    for value in (event.value for event in events):
        for part in value.walk():
            if part.op is Op.ATTR and part.args[0].op is Op.PARAM and function is not None:
                for parameter in function.open_parameters:
                    if parameter.name == part.args[0].data and parameter.kind in ("positional", "keyword"):
                        yield _Part(parameter, str(part.data), part is value)


def _take(
    found: dict[Class, dict[str, Handed]], cls: Class, part: _Part, kind: Definition | None, project: Project
) -> None:
    """Record that a constructor gets an object of class `kind` of which a tensor is stored."""
    if not isinstance(kind, DefinedClass):
        return
    name, model = part.parameter.name, project.classes.model(kind.cls)
    if not part.is_whole:
        if project.of(Keepers).may_give_tensor(model, part.attribute):
            found.setdefault(cls, {})[name] = model
        return
    made = _new_tensor_in(kind.cls, part.attribute, project)
    if made is not None:
        given = found.setdefault(cls, {}).setdefault(name, Shell("namespace", None, ()))
        if isinstance(given, Shell):
            given.set(part.attribute, (made,))


def _new_tensor_in(cls: Class, attribute: str, project: Project) -> Fresh | None:
    """The new tensor, or the buffer, that objects of a class store in an attribute; None if anything else is stored."""
    made = [_new_tensor(event.value, method, project) for method, event in cls.stores(attribute)]
    if made:
        return made[0] if None not in made else None
    for method in cls.methods.values():
        for event in method.flow.of(EventKind.CALL) if "register_buffer" in method.words else ():
            call = event.value
            name = call.argument(0, "name") if call.callee.data == "register_buffer" else None
            if name is not None and name.op is Op.CONST and name.data == attribute:
                return Fresh(call, method, 1)
    return None


def given_values(cls: Class, name: str, project: Project) -> Iterator[tuple[Value, Function]]:
    """The arguments for a constructor parameter in the files in sight, without None; the call itself if unknown."""
    function = cls.methods["__init__"]
    model = project.classes.model(cls)
    derived = [other for other in cls.module.classes.values() if model in project.classes.model(other).mro()]
    for one in (cls, *(other for other in derived if other is not cls)):
        for module in neighbours(project, cls.module, one.name):
            for caller in (*module.all_functions(), module.body):
                for event in caller.flow.of(EventKind.CALL) if one.name in caller.words else ():
                    call = event.value
                    if project.names.definition(module, call.callee) == DefinedClass(one):
                        is_told = one is cls or "__init__" not in one.methods
                        bound = call.keywords if call.has_unpacking else function.bind(call)
                        value = bound.get(name, call if call.has_unpacking else None) if is_told else call
                        if value is not None and not (value.op is Op.CONST and value.data is None):
                            yield value, caller


def is_new(value: Value, function: Function, project: Project) -> bool:
    """True if a value is a tensor that is made on the default device."""
    return _new_tensor(value, function, project) is not None


def _stored_parameters(cls: Class) -> Iterator[str]:
    """The unannotated constructor parameters that are stored unchanged."""
    function = cls.methods.get("__init__")
    if function is None:
        return
    stored = {_parameter(event.value) for events in function.flow.stores.values() for event in events}
    for parameter in function.open_parameters:
        is_number = parameter.default is not None and parameter.default.data is not None
        may_be_tensor = parameter.annotation is None and parameter.kind == "positional" and not is_number
        if may_be_tensor and parameter.name in stored:
            yield parameter.name


def _parameter(value: Value) -> str | None:
    """The parameter that a value is, perhaps moved to the GPU or wrapped; None for any other value."""
    while value.op is Op.CALL:
        if value.callee.op is Op.ATTR and value.callee.data in _STAYING:
            value = value.callee.args[0]
        elif called_name(value.callee) == "Variable" and value.positional:
            value = value.positional[0]
        else:
            return None
    return str(value.data) if value.op is Op.PARAM else None


def _new_tensor(value: Value, function: Function, project: Project, depth: int = 0) -> Fresh | None:
    """The new tensor on the default device that a value certainly is; None if it may be anything else."""
    if depth > _MAX_DEPTH:
        return None
    if value.op in (Op.UPDATE, Op.UNARY) or (value.op is Op.INDEX and value.args[1].op is Op.SLICE):
        return _new_tensor(value.args[0], function, project, depth + 1)
    if value.op is Op.BIN:
        return _first_new(value.args, function, project, depth)
    name = self_attribute(value)
    if name is not None and function.owner is not None:
        made = [_new_tensor(event.value, where, project, depth + 1) for where, event in function.owner.stores(name)]
        return made[0] if made and None not in made else None
    if value.op is Op.ATTR and value.args[0].op is Op.CALL:
        kind = project.names.definition(function.module, value.args[0].callee)
        return _new_tensor_in(kind.cls, str(value.data), project) if isinstance(kind, DefinedClass) else None
    if value.op is not Op.CALL:
        return None
    definition = project.names.definition(function.module, value.callee)
    if isinstance(definition, External):
        row = operators.row(definition.name)
        if row is None or not value.positional or "trained" in row.facets or "kept" in row.facets:
            return None
        if "fresh" in row.facets:
            has_dimensions = "literal" not in row.facets or value.positional[0].op is Op.LIST
            may_be_moved = "device" in value.data or value.has_unpacking
            return Fresh(value, function, 1) if has_dimensions and not may_be_moved else None
        if _CALCULATING.isdisjoint(row.facets):
            return None
        given = value.positional[0]
        return _first_new(given.args if given.op in (Op.LIST, Op.TUPLE) else (given,), function, project, depth)
    if value.callee.op is Op.ATTR and value.callee.data in _KEEPING:
        return _new_tensor(value.callee.args[0], function, project, depth + 1)
    return None


def _first_new(values: Iterable[Value], function: Function, project: Project, depth: int) -> Fresh | None:
    """The first new tensor among operands, which are all where it is."""
    found = (_new_tensor(value, function, project, depth + 1) for value in values)
    return next((one for one in found if one is not None), None)
