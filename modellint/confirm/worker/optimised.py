"""Probes of optimizers: whether a recipe's Brain, or a file's own code, gives them the parameters of a model."""

from __future__ import annotations

import inspect
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from . import placement, recipes
from .beside import OPERATORS
from .brains import Checkpointer, brain_of
from .calls import callables_of
from .movement import first_call, is_at
from .places import Spot
from .standins import described
from .tensors import learning, tensors_in
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.layers import MovedLate, NotListed
    from modellint.claims.recipes import NotTrained, OptimizerNotSaved
    from modellint.source import Place

    from .attempts import Attempt
    from .session import Session

_MAX_CALLS = 8
_MOVING = OPERATORS.methods("Tensor", "moves")


@contextmanager
def _optimizers(made: list[tuple[torch.optim.Optimizer, bool]], spot: Spot | None = None) -> Iterator[None]:
    """Note the optimizers created meanwhile, each with whether the lines of `spot` created it.

    Gradients stay off: an optimizer turns them on for what it is told to call.
    """
    original = torch.optim.Optimizer.__init__

    def init(self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        frame = inspect.currentframe()
        is_there = False
        while frame is not None and spot is not None and not is_there:
            is_there = spot.has_line(frame)
            frame = frame.f_back
        made.append((self, is_there))

    backward = patch.object(torch.Tensor, "backward", lambda *_, **__: None)
    with (
        patch.object(torch.optim.Optimizer, "__init__", init),
        patch.object(torch, "enable_grad", torch.no_grad),
        backward,
    ):
        yield


def _parameters_in(made: list[tuple[torch.optim.Optimizer, bool]]) -> set[int]:
    """The parameters that optimizers were given, by identity."""
    return {id(p) for optimizer, _ in made for group in optimizer.param_groups for p in group["params"]}


def recipe_optimisation(session: Session, claim: NotTrained | OptimizerNotSaved) -> Verdict:
    """Build the Brain's optimizers: confirmed if they lack a layer's parameters.

    For a claim about an optimizer: confirmed if the Brain does not add it to the checkpointer.
    """
    key: str | None = getattr(claim, "key", None)
    makes: Place | None = getattr(claim, "made", None)
    made: list[tuple[torch.optim.Optimizer, bool]] = []
    checkpointer = Checkpointer()
    with placement.pretended():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build(None)
        found = None if key is None else recipes.lookup(objects, key)
        if key is not None and (recipes.is_unbuilt(found) or not isinstance(found, nn.Module)):
            return unconfirmed(f"`{key}` could not be built: {recipe.reason(found)}")
        session.begin("importing the script")
        brain = brain_of(session, claim, objects, checkpointer)
        if key is None:
            _fill(brain, objects)
        session.begin("running `init_optimizers`")
        with _optimizers(made, Spot.of(makes) if makes else None):
            brain.init_optimizers()
    if key is None:
        mine = [optimizer for optimizer, is_there in made if is_there]
        if not mine:
            return unconfirmed("`init_optimizers` made no optimizer there")
        if all(any(optimizer is one for one in checkpointer.added) for optimizer in mine):
            return refuted("`init_optimizers` adds the optimizer to the checkpointer", "fake")
        kind = type(mine[0]).__name__
        return confirmed(
            f"`init_optimizers` made an optimizer (`{kind}`) that it did not add to the checkpointer", "fake"
        )
    if not made:
        return unconfirmed("`init_optimizers` made no optimizer")
    return _verdict_for(key, learning(found), made)


def _verdict_for(
    name: str, wanted: list[nn.Parameter], made: list[tuple[torch.optim.Optimizer, bool]], device: str = "fake"
) -> Verdict:
    if not wanted:
        return refuted(f"`{name}` has no parameters that learn", "fake")
    given = _parameters_in(made)
    number = sum(id(parameter) in given for parameter in wanted)
    optimizers = "1 optimizer" if len(made) == 1 else f"{len(made)} optimizers"
    fact = f"{optimizers} with {len(given)} parameters, {number} of the {len(wanted)} of `{name}` among them"
    return refuted(f"made {fact}", "fake") if number == len(wanted) else confirmed(f"made {fact}", device)


def _fill(brain: Any, objects: dict[str, Any]) -> None:
    """Give layers that could not be built a parameter, so that an optimizer accepts them."""
    for name, made in (objects.get(recipes.MODULES) or {}).items():
        if recipes.is_unbuilt(made) and not isinstance(made, nn.Module):
            brain.modules[name] = recipes.Unbuilt(name, "")
    layers = (one for one in (*objects.values(), *brain.modules.values()) if isinstance(one, nn.Module))
    for layer in layers:
        for part in layer.modules():
            if isinstance(part, recipes.Unbuilt):
                part.filler = nn.Parameter(torch.empty(1))


def optimisation(session: Session, claim: NotListed) -> Verdict:
    """Run a function: confirmed if the optimizers that it creates lack the parameters of a model, or of its child."""
    owner, child, function = claim.owner if claim.child else _short(claim.owner), claim.child, claim.function
    made: list[tuple[torch.optim.Optimizer, bool]] = []
    models: list[nn.Module] = []
    reasons: list[str] = []
    with (
        placement.pretended(),
        _optimizers(made, Spot.of(claim.place)),
        _instances(owner, models),
    ):
        source = session.source()
        if function != "<module>":
            for _ in _calls(session, function, reasons):
                if any(is_there for _, is_there in made):
                    break
        given = _parameters_in(made)
        model = next((m for m in models if any(id(p) in given for p in m.parameters())), None)
        is_meant = model is not None and (not child or type(model) is source.find(owner))
        if model is None or not is_meant or not any(is_there for _, is_there in made):
            return unconfirmed(reasons[0] if reasons else f"no optimizer was made for a `{owner}`")
        if child and not isinstance(getattr(model, child, None), nn.Module):  # it is made at the first call
            for attempt in session.attempts(owner):
                first_call(attempt, model, reasons)
                break
    found = getattr(model, child, None) if child else model
    if not isinstance(found, nn.Module | nn.Parameter):
        return unconfirmed(reasons[-1] if reasons else f"`{owner}` has no `{child}`")
    wanted = learning(found) if isinstance(found, nn.Module) else [found]
    return _verdict_for(f"{owner}.{child}" if child else owner, wanted, made)


def _short(name: str) -> str:
    return name.rpartition(".")[2]


class _Watch(TorchFunctionMode):
    """Records each move at a place (before, after), and tensors used outside optimizers once one is `made`."""

    def __init__(self, spot: Spot, made: list[tuple[torch.optim.Optimizer, bool]]) -> None:
        super().__init__()
        self._spot, self._made = spot, made
        self.moved: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.used: set[int] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        is_move = name in _MOVING and is_at(self._spot)
        if self._made and not is_move and name != "__get__" and not _is_in_optimizer():
            self.used.update(map(id, tensors_in((args, kwargs))))
        found = func(*args, **(kwargs or {}))
        if is_move:
            self.moved.append((args[0], found))
        return found


def _is_in_optimizer() -> bool:
    """True if the innermost code outside the rest of torch and of the worker is an optimizer's."""
    frame, own = inspect.currentframe(), (os.path.dirname(torch.__file__), os.path.dirname(__file__))
    while frame is not None and frame.f_code.co_filename.startswith(own):
        if frame.f_code.co_filename.startswith(os.path.dirname(torch.optim.__file__)):
            return True
        frame = frame.f_back
    return False


def replacement(session: Session, claim: MovedLate) -> Verdict:
    """Move the model: confirmed if that replaces a tensor that an optimizer holds, and no optimizer gets the new one.

    Refuted if the optimizer holds tensors that are used later, or that are attributes of the object that made it.
    """
    made: list[tuple[torch.optim.Optimizer, bool]] = []
    reasons: list[str] = []
    kept: set[int] = set()
    watch = _Watch(Spot.of(claim.place), made)
    with placement.pretended(), _optimizers(made, Spot.of(claim.optimizer)), watch:
        for owner in _run_or_build(session, claim.function, reasons):
            kept.update(id(part) for part in vars(owner).values() if isinstance(part, torch.Tensor))
            if any(is_there for _, is_there in made):
                break
    given = _parameters_in(made)
    moved = [(before, after) for before, after in watch.moved if id(before) in given and after is not before]
    if not moved:
        is_idle = any(after is before and str(after.device) != placement.DEVICE for before, after in watch.moved)
        is_held = not is_idle and not _parameters_in([one for one in made if one[1]]).isdisjoint(watch.used | kept)
        fact = "the optimizer was given what is used after it"
        return (
            refuted(fact, "fake") if is_held else unconfirmed(reasons[0] if reasons else "no optimizer was made there")
        )
    before, after = moved[0]
    if id(before) in watch.used or id(after) in given:
        return unconfirmed("what the optimizers were given is used after the move, too")
    return confirmed(
        f"the move gives another tensor on {after.device}, and an optimizer holds the one on {before.device}", "fake"
    )


def _run_or_build(session: Session, function: str, reasons: list[str]) -> Iterator[Any]:
    """Run a function, or build objects if it is a constructor; gives the objects, or the function for each call."""
    owner, _, name = function.rpartition(".")
    if name != "__init__":
        session.source()
        yield from () if function == "<module>" else _calls(session, function, reasons, placement.DEVICE)
        return
    for attempt in session.attempts(owner, device=placement.DEVICE):
        built = _build(attempt, reasons)
        if built is not None:
            yield built


def _build(attempt: Attempt, reasons: list[str]) -> Any:
    try:
        return attempt.build()
    except Exception as error:
        reasons.append(f"building: {described(error)}")
        return None


def _calls(session: Session, function: str, reasons: list[str], device: str = "cpu") -> Iterator[Any]:
    """Call a function of the file with each choice of inputs; yields the function."""
    for call, inputs in callables_of(session, function, reasons, device):
        for number, specs in enumerate(inputs.combinations()):
            if number >= _MAX_CALLS:
                break
            try:
                call(**{name: spec.make(device) for name, spec in specs.items()})
            except Exception as error:
                reasons.append(f"calling `{function}`: {described(error)[:200]}")
            yield call


@contextmanager
def _instances(name: str, made: list[nn.Module]) -> Iterator[None]:
    """Note the modules of a class, called `name`, that are made meanwhile."""
    original = nn.Module.__init__

    def init(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        if type(self).__qualname__ == name:
            made.append(self)
        original(self, *args, **kwargs)

    nn.Module.__init__ = init
    try:
        yield
    finally:
        nn.Module.__init__ = original
