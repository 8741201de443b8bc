"""Parameters whose default device nobody gets: every call in the project passes another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.arguments import bind_call
from modellint.graph.definitions import DefinedClass, DefinedFunction, External
from modellint.graph.value import Op, called_name, walk_all

from .evidence import is_tensor, reads
from .placements import is_cuda

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Parameter, Value
    from modellint.rule import Project

#: The libraries whose decorators hand a function to nobody.
_PLAIN = ("builtins.", "functools.", "torch.")
#: The methods of a layer that tell where it is.
_STATE = ("parameters", "buffers")


def is_always_passed(parameter: Parameter, function: Function, project: Project) -> bool:
    """True if the project calls a function, and each call passes a CUDA device, or the device of a tensor or layer.

    What hands the function on, or names it in quotes, may call it in any way.
    """
    named = function.name
    if named == "__init__" and function.owner is not None:
        named = function.owner.name
        is_open = bool(function.owner.head.decorators or queries.subclasses(function.owner, project))
    else:
        is_open = named.startswith("__") or _is_handed_on(function, project)
    near = function.module
    if is_open or not queries.is_searchable(near, project) or queries.paths_mentioning(near, project, f"' {named}"):
        return False
    passed = False
    for module in dict.fromkeys((near, *queries.files_mentioning(near, project, named))):
        names = {named, *(name for name, full in module.imports.items() if full.rpartition(".")[2] == named)}
        if any(queries.is_mentioned_elsewhere(module, project, name) for name in names - {named}):
            return False
        for caller, call in _references(function, names, module, project):
            if call is None or not _passes(call, caller, parameter, function, project):
                return False
            passed = True
    return passed


def _is_handed_on(function: Function, project: Project) -> bool:
    """True if a decorator may hand a function to others."""
    found = (project.names.definition(function.module, one) for one in function.signature.decorators)
    return not all(isinstance(one, External) and one.name.startswith(_PLAIN) for one in found)


def _references(
    function: Function, names: set[str], module: ModuleFacts, project: Project
) -> Iterator[tuple[Function, Value | None]]:
    """The places of a file that name a function: the function around each, and the call; None where it isn't called."""
    around = list(_around_bodies(module))
    for caller in (module.body, *module.all_functions()):
        if names.isdisjoint(caller.words) and caller is not module.body:
            continue
        parts = list(walk_all((*caller.flow.evaluated(), *(around if caller is module.body else ()))))
        calls = {id(part.callee): part for part in parts if part.op is Op.CALL}
        for part in parts:
            call = calls.get(id(part))
            is_name = part.op in (Op.GLOBAL, Op.ATTR) and part.data in names
            if is_name and _is_meant(part, call, caller, function, project):
                yield caller, call


def _around_bodies(module: ModuleFacts) -> Iterator[Value]:
    """The values that a file evaluates as it defines classes and functions: attributes, decorators and defaults."""
    for cls in module.classes.values():
        yield from (*cls.attributes.values(), *cls.head.decorators)
    for function in module.all_functions():
        yield from function.signature.decorators
        yield from (one.default for one in function.parameters if one.default is not None)


def _is_meant(part: Value, call: Value | None, caller: Function, function: Function, project: Project) -> bool:
    """True if a name stands for a function, or may be the method of an unknown object."""
    definition = project.names.definition(caller.module, part)
    if isinstance(definition, DefinedClass):
        return definition.cls is function.owner and function.name == "__init__"
    if definition is not None:
        return isinstance(definition, DefinedFunction) and definition.function is function
    if part.op is not Op.ATTR or function.owner is None or function.name == "__init__":
        return False
    found = None if call is None else queries.Call.at(call, caller, project)
    target = None if found is None else found.target
    return target is None or target.function is function or target.may_be_overridden


def _passes(call: Value, caller: Function, parameter: Parameter, function: Function, project: Project) -> bool:
    """True if a call certainly passes a device that is no choice."""
    given = bind_call(function.open_parameters, call).certain.get(parameter.name)
    if given is None:
        return False
    leaves = queries.Operand(given, caller, project).origins(through_operators=False)
    return all(leaf.part is None and _is_settled(leaf.value, leaf.function, project) for leaf in leaves)


def _is_settled(device: Value, function: Function, project: Project) -> bool:
    """True for a CUDA device, and for the device of a tensor or a layer."""
    if is_cuda(device, function, project):
        return True
    if device.op is not Op.ATTR or device.data != "device":
        return False
    owner = device.args[0]
    if owner.op is Op.PARAM and owner.data == "self" and function.owner is not None:
        return project.classes.model(function.owner).is_module is True
    if owner.op is Op.CALL and called_name(owner.callee) == "next" and len(owner.positional) == 1:
        given = owner.positional[0]
        return given.op is Op.CALL and called_name(given.callee) in _STATE
    return is_tensor(owner, function, project) or "shape" in reads(owner, function)
