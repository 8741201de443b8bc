"""The functions of a file that may evaluate a layer, or leave one in evaluation mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.definitions import DefinedFunction, External
from modellint.graph.value import EventKind, Op, is_self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event
    from modellint.rule import Project

#: Contexts without gradients, and functions that record what a layer does.
_QUIET = frozenset(("no_grad", "inference_mode", "trace", "trace_module", "export"))
_RECORDING = frozenset(("torch.jit.trace", "torch.jit.trace_module", "torch.onnx.export", "torch.export.export"))
#: Operations that give an object that may be a layer.
_OBJECTS = (Op.PARAM, Op.INNER, Op.CALL, Op.CHOICE, Op.INDEX, Op.ITEM, Op.UNPACK, Op.GLOBAL, Op.ATTR)


def courses_of_modes(module: ModuleFacts, project: Project) -> Iterator[queries.ModeCourse]:
    """The courses of modes that may evaluate a layer, or leave one in evaluation mode, in code of a file."""
    words = _QUIET | {name for name, full in module.imports.items() if full.rpartition(".")[2] in _QUIET}
    functions = (*module.all_functions(), module.body)
    leaving = list(filter(_leaves, functions))
    if not any("backward" in one.module.text for one in queries.functions_above(leaving, project)):
        leaving = []
    evaluating = [one for one in functions if _is_near(one, words) and _evaluates(one, project)]
    return queries.mode_courses(dict.fromkeys((*leaving, *evaluating)), project)


def _leaves(function: Function) -> bool:
    """True if a function calls `eval()`."""
    return "eval" in function.words and any(
        one.value.callee.op is Op.ATTR and one.value.callee.data == "eval" for one in function.flow.of(EventKind.CALL)
    )


def _is_near(function: Function, words: frozenset[str]) -> bool:
    return bool(function.signature.decorators) or not words.isdisjoint(function.words)


def _evaluates(function: Function, project: Project) -> bool:
    """True if a function may run a layer that is made in sight without gradients, or record what it does."""
    return any(_may_run(event, function, project) for event in function.flow.of(EventKind.CALL))


def _may_run(event: Event, function: Function, project: Project) -> bool:
    callee = event.value.callee
    definition = project.names.definition(function.module, callee)
    if isinstance(definition, External):
        return definition.name in _RECORDING
    if not queries.is_quiet(event, function, project):
        return False
    if isinstance(definition, DefinedFunction) or callee.op is Op.LAMBDA:
        return True
    if callee.op is Op.ATTR:
        owner = callee.args[0]
        return is_self(owner) or (owner.op in _OBJECTS and _may_be_made(queries.Operand(owner, function, project)))
    return callee.op in _OBJECTS and _may_be_made(queries.Operand(callee, function, project))


def _may_be_made(operand: queries.Operand) -> bool:
    """True if a value may be an object that code in sight makes."""
    return any(leaf.value.op is Op.CALL and leaf.part is None for leaf in operand.origins(through_operators=False))
