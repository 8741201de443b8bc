"""The probe of wrappers: whether a script calls a module itself, past the wrapper that synchronises its gradients."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from . import placement, recipes
from .beside import CLAIMS
from .brains import Checkpointer, brain_of
from .places import Spot, definitions, expression
from .standins import StandIn
from .tensors import learning
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from modellint.claims.recipes import NotWrapped

    from .session import Session
    from .sources import Source

#: The most parameters with which a module gets real tensors, so that gradients can be computed.
_SMALL = 5_000_000


class _Wrapper(nn.Module):
    """The wrapper that a framework puts around an entry of `modules`, if that has parameters to train."""

    def __init__(self, module: nn.Module | StandIn) -> None:
        super().__init__()
        self.module = module


def wrapping(session: Session, claim: NotWrapped) -> Verdict:
    """Evaluate the callee at a place: confirmed if it is the module inside the wrapper of an entry of `modules`."""
    key, entry, spot = claim.key, claim.entry, Spot.of(claim.called)
    with placement.pretended():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build({key, recipes.MODULES})
        wrapped = recipes.lookup(objects, entry)
        session.begin("importing the script")
        brain = brain_of(session, claim, objects, Checkpointer())
        entries = (objects.get(recipes.MODULES) or {}).items()
        wrappers = {name: _Wrapper(module) for name, module in entries if isinstance(module, nn.Module | StandIn)}
        vars(brain).update(modules=nn.ModuleDict(wrappers), mods=nn.ModuleDict(wrappers))
        session.begin(f"looking at {spot.name}")
        source = session.load(spot.path)
        try:
            text, called = _evaluate_callee(source, spot, brain, CLAIMS.name_at(claim, claim.called))
        except AttributeError:
            if not recipes.is_unbuilt(wrapped):
                raise
            return unconfirmed(f"`{entry}` could not be built: {recipe.reason(wrapped)}")
        if isinstance(called, _Wrapper):
            return refuted(f"`{text}` is what the framework wraps", "fake")
        if recipes.is_unbuilt(wrapped) or not isinstance(wrapped, nn.Module):
            return unconfirmed(f"`{entry}` could not be built: {recipe.reason(wrapped)}")
        if called is not wrapped:
            return refuted(f"`{text}` and `{entry}` are two objects", "fake")
        number = len(learning(wrapped))
        if not number:
            return refuted(f"`{text}` has no parameters to train, so that nothing wraps it", "fake")
    fact = f"`{text}` is the very module inside of the wrapper of `{entry}`, with {number} parameters to train"
    session.begin(f"running `{key}`")
    try:
        exchanged = _exchanged_gradients(wrapped)
    except Exception:
        exchanged = None
    if exchanged is None:
        return confirmed(fact, "fake")
    raw, proper = exchanged
    if raw:
        return refuted(f"a call of `{text}` exchanges {raw} gradients", "fake")
    detail = f"{fact}: a call of it exchanges 0 gradients with the other process, one of the wrapper {proper}"
    return confirmed(detail)


def _evaluate_callee(source: Source, spot: Spot, brain: Any, name: str) -> tuple[str, Any]:
    """The expression called at a place in a method, and its value for an object of the method's class.

    Raises the errors of evaluating it: NameError if it has local variables.
    """
    node = expression(source.tree, spot)
    method = next(iter(definitions(source.tree, name)), None)
    if node is None or not isinstance(method, ast.FunctionDef) or not method.args.args:
        raise LookupError(f"no method calls anything at {spot.name}")
    text = ast.unparse(node)
    names = {**vars(source.module), method.args.args[0].arg: brain}
    called = eval(compile(ast.Expression(node), spot.path, "eval"), names)
    return text, getattr(called, "__self__", called)


def _exchanged_gradients(module: nn.Module) -> tuple[int, int] | None:
    """The numbers of gradients that two processes exchange after a call of a module, and of its wrapper.

    The other process is simulated. None if this cannot be measured. Raises the errors of torch.
    """
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if sum(p.numel() for p in module.parameters()) > _SMALL:
        return None
    _give_numbers(module)
    given = recipes.example_input(module, "cpu")
    if given is None:
        return None
    if not distributed.is_initialized():
        distributed.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    sent: list[int] = []
    wrapper = DistributedDataParallel(module)
    wrapper.register_comm_hook(sent, _note_bucket)
    numbers = []
    for called in (module, wrapper):
        sent.clear()
        result = called(given)
        next(part for part in placement.below(result) if isinstance(part, torch.Tensor)).sum().backward()
        numbers.append(sum(sent))
    return numbers[0], numbers[1]


def _note_bucket(sent, bucket):  # type: ignore[no-untyped-def]  # torch refuses annotations other than its own
    """Note the number of gradients to be exchanged, and return the bucket as its own sum."""
    sent.append(len(bucket.gradients()))
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def _give_numbers(module: nn.Module) -> None:
    """Replace fake parameters and buffers by small real numbers."""
    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter is not None:
                numbers = torch.randn(parameter.shape) * 0.02
                part._parameters[name] = nn.Parameter(numbers, parameter.requires_grad)
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = torch.zeros(buffer.shape, dtype=buffer.dtype)
