"""Contexts and decorators under which PyTorch records no gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import Op
from modellint.link.names import External

if TYPE_CHECKING:
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project

#: Those that record none, or perhaps none, and those that an argument decides about.
_QUIET = operators.functions("no-gradients")
_OPEN = frozenset(("torch.set_grad_enabled", "torch.autograd.set_grad_enabled"))


def records_nothing(context: Value, module: ModuleFacts, project: Project, *, perhaps: bool = False) -> bool:
    """True for a context or decorator that records no gradients, such as `torch.no_grad()`; `perhaps`: or may do so."""
    found = project.names.definition(module, context.callee if context.op is Op.CALL else context)
    return isinstance(found, External) and found.name in _QUIET and (perhaps or found.name not in _OPEN)


def is_without_gradients(function: Function, project: Project) -> bool:
    """True if a decorator of a function switches the recording of gradients off."""
    return any(records_nothing(one, function.module, project) for one in function.signature.decorators)
