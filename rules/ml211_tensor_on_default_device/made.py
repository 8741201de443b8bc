"""Tensors that layers make on the default device while they work, and that meet tensors which were moved.

An object's life is run on paper, as for tensors of its constructor (ML205). Only the layers whose work can reach a
factory that names no device are worth it.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.declared import is_single_number, is_tensor, may_be_tensor
from modellint.graph.definitions import External
from modellint.graph.python import MAKING, WORK
from modellint.graph.value import EventKind, Op, self_attribute, walk_all

from .arrays import is_for_cpu
from .aside import is_left
from .refused import is_always_replaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.operators import Operator
    from modellint.rule import Project

_WORDS = operators.words("fresh")
#: How many calls may lie between a layer's method and the function that makes a tensor, and how many layers are asked.
_MAX_CALLS = 3
_MAX_LAYERS = 4


def encounters(module: ModuleFacts, project: Project) -> Iterator[tuple[list[queries.Encounter], queries.ClassModel]]:
    """The groups of encounters of tensors that the functions of a file make, each with the layer that works there.

    Encounters that share the tensor or the place are one group.
    """
    seen: set[int] = set()
    words = _WORDS | {name for name, full in module.imports.items() if full.rpartition(".")[2] in _WORDS}
    for function in module.all_functions():
        if function.name in MAKING or words.isdisjoint(function.words) or not _makes(function, project):
            continue
        for finished, entry in _lives(function, project):
            met = finished.encounters(_given_tensors(entry))
            found = [one for one in met if _is_of(one, module) and id(one.made.maker) not in seen]
            found = [one for one in found if _is_mistake(one, project) and is_left(one.made, finished.model, project)]
            found = _remaining(found, finished, entry, project)
            for group in _groups(found):
                seen.update(id(one.made.maker) for one in group)
                yield group, finished.model


def _is_of(met: queries.Encounter, module: ModuleFacts) -> bool:
    return met.made.function is not None and met.made.function.module is module


def _is_mistake(met: queries.Encounter, project: Project) -> bool:
    if _is_number(met, project) or is_for_cpu(met, project):
        return False
    made = met.made.function
    return not is_always_replaced(met, project) and (
        made is None or not _is_made_without_gpu(met.made.maker, made, project)
    )


def _is_made_without_gpu(maker: Value, function: Function, project: Project) -> bool:
    """True if a tensor is made only where there is no CUDA device: all is on the CPU then."""
    guards = [event.guard for event in function.flow.of(EventKind.CALL) if event.value is maker]
    return bool(guards) and all(
        guard is not None and any(_refutes_gpu(one.test, one.truthy, function, project) for one in guard.chain())
        for guard in guards
    )


def _refutes_gpu(test: Value, truthy: bool, function: Function, project: Project) -> bool:
    """True if there is no CUDA device where a condition comes out as `truthy`."""
    if test.op is Op.UNARY and test.data == "not":
        return _refutes_gpu(test.args[0], not truthy, function, project)
    if test.op is Op.BOOL:
        found = [_refutes_gpu(part, truthy, function, project) for part in test.args]
        return any(found) if truthy is (test.data == "and") else all(found)
    definition = project.names.definition(function.module, test.callee) if test.op is Op.CALL else None
    return not truthy and isinstance(definition, External) and definition.name == "torch.cuda.is_available"


def _remaining(
    met: list[queries.Encounter], finished: queries.FinishedObject, entry: Function, project: Project
) -> list[queries.Encounter]:
    """The encounters that remain where the layer's methods get the arguments of their callers in sight."""
    work = [method for name in WORK if (method := finished.model.method(name)) is not None]
    bare = (
        {method: _parameters_from_elsewhere(method, project) for method in (*work, *_given_tensors(entry))}
        if met
        else {}
    )
    if not any(bare.values()):
        return met
    # Encounters that only other methods reach are the same for all arguments of these.
    anyhow, again = (
        {(one.made.maker, one.value) for one in finished.encounters_with(given)}
        for given in (dict.fromkeys(bare, frozenset[str]()), bare)
    )
    return [one for one in met if (one.made.maker, one.value) not in anyhow - again]


def _parameters_from_elsewhere(method: Function, project: Project) -> frozenset[str]:
    """The parameters of a method for which all callers are layers, and pass tensors that were made elsewhere."""
    given: list[queries.Arguments] = []
    for caller in queries.flow(method.module, project).callers(method):
        lives = [finished for finished, _ in _lives(caller, project)]
        found = [one for finished in lives for one in finished.given_to(method)]
        if not found:
            return frozenset()
        given += found
    names = [(number, one.name) for number, one in enumerate(method.parameters[1:])]
    return frozenset(name for number, name in names if given and all(_is_elsewhere(number, name, one) for one in given))


def _is_elsewhere(number: int, name: str, given: queries.Arguments) -> bool:
    atoms = given.argument(number, name)
    return (
        bool(atoms)
        and given.is_complete
        and all(isinstance(atom, queries.Plain | queries.Constant) for atom in atoms or ())
    )


def _is_number(met: queries.Encounter, project: Project) -> bool:
    """True if the other operand is a parameter that is annotated as no tensor."""
    other, function = met.other, met.function
    if other is None or other.op is not Op.PARAM or not queries.is_plain_parameter(other.data, function, project):
        return False
    return not any(one.name == other.data and may_be_tensor(one) for one in function.parameters)


def _groups(met: Iterable[queries.Encounter]) -> list[list[queries.Encounter]]:
    """Groups of encounters that share the factory call or the place of use."""
    groups: list[list[queries.Encounter]] = []
    for one in met:
        near = [g for g in groups if any(one.value is o.value or one.made.maker is o.made.maker for o in g)]
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), one])
    return groups


def factory(call: Value, function: Function, project: Project) -> Operator | None:
    """The row of the factory that a call is of; None if it is of none, or names a device."""
    if "device" in call.data or None in call.data:
        return None
    definition = project.names.definition(function.module, call.callee)
    row = operators.row(definition.name) if isinstance(definition, External) else None
    return row if row is not None and "fresh" in row.facets else None


def _makes(function: Function, project: Project) -> bool:
    """True if a function makes a tensor that may meet others: a number that it only compares may be elsewhere."""
    for event in function.flow.of(EventKind.CALL):
        if _is_made_aside(event.value, function, project):
            return True
        row = factory(event.value, function, project)
        if row is not None and not (is_single_number(event.value, row) and _is_only_compared(event.value, function)):
            return True
    return False


def _is_made_aside(call: Value, function: Function, project: Project) -> bool:
    """True if a method makes a tensor on a device that its object keeps."""
    named = call.keywords.get("device") if "device" in call.data and function.owner is not None else None
    name = None if named is None else self_attribute(named)
    if name is None or function.owner is None:
        return False
    return queries.kept_device(project.classes.model(function.owner), name, project) is not None


def _is_only_compared(call: Value, function: Function) -> bool:
    """True if a function does nothing with the result of a call but compare it."""
    events = [
        event for event in function.flow.events if event.value is not call and event.kind is not EventKind.COMPARE
    ]
    used = (part for event in events for part in (event.value, event.target, *event.contexts) if part is not None)
    return not any(part is call for part in walk_all(used))


def _lives(function: Function, project: Project) -> Iterator[tuple[queries.FinishedObject, Function]]:
    """The runs of layers whose work may reach a function, each with the method that does."""
    asked = 0
    for method in _entries(function, project):
        model = None if method.owner is None else project.classes.model(method.owner)
        if method.owner is None or model is None or model.has_own_adder("__setattr__"):
            continue
        flow, of_owner = queries.flow(function.module, project), queries.flow(method.owner.module, project)
        models = [model] if model.is_module is True else of_owner.layers_of(method.owner)
        layers = [one for one in models if one.is_module is True]
        working = (one for one in layers if any(map(one.method, WORK)) or _given_tensors(method))
        is_held = not layers and model.is_module is False
        lives = iter(flow.holders(method.owner)) if is_held else map(flow.object, working)
        for finished in islice(lives, _MAX_LAYERS - asked):
            asked += 1
            yield finished, method


def _entries(function: Function, project: Project) -> list[Function]:
    """The function itself if it is a method, else the methods that call it, directly or through others."""
    if function.owner is not None:
        return [function]
    found: dict[Function, None] = {}
    pending = [function]
    for _ in range(_MAX_CALLS):
        called = ((*queries.flow(one.module, project).callers(one), *_mentioning(one)) for one in pending)
        calling = list(chain.from_iterable(called))
        found.update(dict.fromkeys(caller for caller in calling if caller.owner is not None))
        pending = [caller for caller in calling if caller.owner is None and caller.name != "<module>"]
    return list(found)


def _mentioning(function: Function) -> list[Function]:
    """The methods of the same file that mention a function, which they may store or pass on."""
    return [one for one in function.module.all_functions() if one.owner is not None and function.name in one.words]


def _given_tensors(method: Function) -> list[Function]:
    """A method, and those of its class that may call it, as far as their annotations have tensors as parameters."""
    near = () if method.owner is None else method.owner.methods.values()
    return [one for one in near if (one is method or method.name in one.words) and any(map(is_tensor, one.parameters))]
