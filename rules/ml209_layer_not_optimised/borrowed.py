"""Models of a script that goes backward and steps with an optimizer which another file made for models of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.flow.training import is_torch_optimizer
from modellint.graph.definitions import DefinedClass, DefinedConstant, External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op

from .beside import calls_before_backward

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

#: Words of code that trains, freezes or fills layers in a way of its own.
_TRAINING = frozenset(
    "add_param_group load_state_dict named_parameters parameters requires_grad requires_grad_".split()
)


@dataclass(frozen=True, eq=False, slots=True)
class Borrowed:
    """A model of the file, `made` there, whose loss goes backward in `function`, and the optimizer of another file."""

    name: str
    function: Function
    made: Value
    backward: Value
    optimizer: DefinedConstant


def models_without_optimizer(module: ModuleFacts, project: Project) -> Iterator[Borrowed]:
    """The models of a file whose loss goes backward, where all optimizers are of another file, for its own models."""
    functions = (module.body, *module.all_functions())
    if any(not _TRAINING.isdisjoint(function.words) for function in functions):
        return
    stepping = [call for function in functions for call in _steps(function)]
    optimizers = [_optimizer(call, module, project) for call in stepping]
    known = [one for one in optimizers if one is not None]
    if not known or len(known) < len(optimizers):
        return
    told: set[int] = set()
    for function in functions:
        for backward, call in calls_before_backward(function, project) if "backward" in function.words else ():
            made = _made_here(call.callee, function, project)
            if made is not None and id(made) not in told:
                told.add(id(made))
                name = made.target or (call.callee.data if call.callee.op is Op.GLOBAL else "")
                yield Borrowed(str(name), function, made, backward, known[0])


def _steps(function: Function) -> Iterator[Value]:
    """The calls of `step` in a function."""
    for event in function.flow.of(EventKind.CALL) if "step" in function.words else ():
        if event.value.callee.op is Op.ATTR and event.value.callee.data == "step":
            yield event.value


def _optimizer(step: Value, module: ModuleFacts, project: Project) -> DefinedConstant | None:
    """The optimizer of another file that a call steps with, if it has the parameters of a model made there; or None."""
    found = project.names.definition(module, step.callee.args[0])
    if not isinstance(found, DefinedConstant) or found.module is module or found.value.op is not Op.CALL:
        return None
    made = project.names.definition(found.module, found.value.callee)
    given = found.value.argument(0, "params")
    is_optimizer = isinstance(made, External) and is_torch_optimizer(made.name)
    if not is_optimizer or given is None or given.op is not Op.CALL or given.callee.op is not Op.ATTR:
        return None
    owner = given.callee.args[0]
    kept = project.names.definition(found.module, owner) if owner.op is Op.GLOBAL else None
    value = kept.value if isinstance(kept, DefinedConstant) and kept.module is found.module else owner
    is_own = value.op is Op.CALL and isinstance(project.names.definition(found.module, value.callee), DefinedClass)
    return found if is_own and given.callee.data == "parameters" else None


def _made_here(callee: Value, function: Function, project: Project) -> Value | None:
    """The call that makes the layer with parameters which a call runs, in the same file; None for any other callee."""
    module = function.module
    if callee.op is Op.GLOBAL:
        kept = project.names.definition(module, callee)
        callee = kept.value if isinstance(kept, DefinedConstant) and kept.module is module else callee
    definition = project.names.definition(module, callee.callee) if callee.op is Op.CALL else None
    model = project.classes.of(definition) if isinstance(definition, DefinedClass) else None
    if model is None or not model.is_module:
        return None
    return callee if queries.flow(module, project).state(model, trained=True) else None
