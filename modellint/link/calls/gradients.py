"""Contexts and decorators under which PyTorch records no gradients, and the methods whose result is a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import knowledge, operators
from modellint.graph.value import Op
from modellint.link.names import External

if TYPE_CHECKING:
    from modellint.graph.python import Class, Function, ModuleFacts
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


def returns_loss(function: Function, project: Project) -> bool:
    """True for a method on whose result a library calls `backward()`, such as `training_step` of Lightning."""
    owner = function.owner
    if owner is None or function.name not in knowledge.LOSS_METHODS.values():
        return False
    return project.once(("returns loss", function), lambda: _overrides_loss(function, owner, project))


def is_given_data(function: Function, project: Project) -> bool:
    """True for a method that returns a loss to a library, which calls it with batches of data."""
    return function.name in knowledge.DATA_METHODS and returns_loss(function, project)


def _overrides_loss(function: Function, owner: Class, project: Project) -> bool:
    mro = project.classes.model(owner).mro()
    bases = (base.name for model in mro for base in model.facts.bases if isinstance(base, External))
    names = {model.name for model in mro}.union(bases)
    is_manual = any(
        knowledge.MANUAL_BACKWARD in model.facts.attributes or any(True for _ in cls.stores(knowledge.MANUAL_BACKWARD))
        for model in mro
        if (cls := model.cls) is not None
    )
    return not is_manual and any(knowledge.LOSS_METHODS.get(name) == function.name for name in names)
