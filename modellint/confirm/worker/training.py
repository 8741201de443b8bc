"""What a training keeps of its recipe's objects: saved by the checkpointer, given to an optimizer, wrapped for DDP."""

from __future__ import annotations

import ast
import inspect
import os
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from . import placement, recipes
from .beside import CLAIMS, OPERATORS
from .calls import prepared
from .movement import first_call, is_at
from .places import Spot, definitions, expression
from .sources import Source
from .standins import StandIn, described
from .tensors import tensors_in
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.claims.layers import MovedLate, NotListed
    from modellint.claims.recipes import NotSaved, NotTrained, NotWrapped, OptimizerNotSaved
    from modellint.source import Place

    from .classes import Attempt
    from .recipes import Recipe
    from .session import Session

_MAX_CALLS = 8
_MOVING = OPERATORS.methods("Tensor", "moves")
#: Up to how many numbers a module is given real parameters, so that gradients can be computed.
_SMALL = 5_000_000


def _top(path: str) -> str:
    return path.partition("[")[0]


def lookup(objects: Mapping[str, Any], path: str) -> Any:
    """The object that `a[b]` leads to in a recipe that was built; None if there is none."""
    found: Any = objects
    for key in path.replace("]", "").split("["):
        if isinstance(found, list | tuple):
            found = found[int(key)] if key.isdigit() and int(key) < len(found) else None
        else:
            found = found.get(key) if hasattr(found, "get") else None
    return found


def _is_unbuilt(found: object) -> bool:
    return found is None or isinstance(found, StandIn | recipes.Unbuilt)


def _learning(module: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:4]) + (" …" if len(names) > 4 else "")
    return shown or "nothing"


# -- saved -----------------------------------------------------------------------------------------------------------


def saving(session: Session, claim: NotSaved) -> Verdict:
    """Whether the `recoverables` of a checkpointer hold what a key names: its parameters, or the object itself."""
    key = claim.key
    with placement.pretended():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build({_top(key), _top(claim.checkpointer)})
        found = lookup(objects, key)
        kept = _recoverables(lookup(objects, claim.checkpointer), recipe)
        if _is_unbuilt(found):
            return unconfirmed(f"`{key}` could not be built: {recipe.reason(found)}")
        if kept is None:
            return unconfirmed(f"what `{claim.checkpointer}` saves is not known")
        for name, one in kept.items():
            if _is_unbuilt(one) and any(part is found for part in placement.below(recipe.given(one))):
                return unconfirmed(f"`{key}` is passed to `{name}`, which could not be built: {recipe.reason(one)}")
        session.begin("looking at what is saved")
        if isinstance(found, nn.Module):
            return _saved_layer(key, found, kept)
        if any(part is found for one in kept.values() for part in placement.below(one)):
            return refuted(f"`recoverables` hold `{key}`", "fake")
        return confirmed(
            f"`{key}` (`{type(found).__name__}`) is in none of the `recoverables`: {_listed([*kept])}", "fake"
        )


def _saved_layer(key: str, layer: nn.Module, kept: Mapping[str, Any]) -> Verdict:
    wanted = _learning(layer)
    if not wanted:
        return refuted(f"`{key}` has no parameters that learn", "fake")
    held: set[int] = set()
    for one in kept.values():
        saved = one.state_dict(keep_vars=True).values() if isinstance(one, nn.Module) else placement.below(one)
        held.update(id(part) for part in saved)
    lost = [parameter for parameter in wanted if id(parameter) not in held]
    if not lost:
        return refuted(f"`recoverables` hold all {len(wanted)} parameters of `{key}`", "fake")
    number = f"none of the {len(wanted)}" if len(lost) == len(wanted) else f"{len(wanted) - len(lost)} of {len(wanted)}"
    return confirmed(f"what is saved, {_listed([*kept])}, holds {number} parameters of `{key}`", "fake")


def _recoverables(checkpointer: Any, recipe: Recipe) -> Mapping[str, Any] | None:
    """What a checkpointer saves, by name: of one that could not be built, what it was to be given."""
    if not isinstance(checkpointer, StandIn):
        found = getattr(checkpointer, "recoverables", None)
    else:
        positional, named = recipe.given(checkpointer) or ([], {})
        found = named.get("recoverables", positional[1] if len(positional) > 1 else {})
    return found if hasattr(found, "items") else None


# -- optimised -------------------------------------------------------------------------------------------------------


@contextmanager
def _optimizers(made: list[tuple[torch.optim.Optimizer, bool]], spot: Spot | None = None) -> Iterator[None]:
    """Note the optimizers that are made meanwhile, and whether on the lines of `spot`.

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


def _given(made: list[tuple[torch.optim.Optimizer, bool]]) -> set[int]:
    """The parameters that optimizers were given, by identity."""
    return {id(p) for optimizer, _ in made for group in optimizer.param_groups for p in group["params"]}


class _Checkpointer:
    """Notes what a Brain adds to it, and does nothing else."""

    def __init__(self) -> None:
        self.added: list[Any] = []

    def add_recoverable(self, name: str, obj: Any, *_: Any, **__: Any) -> None:
        self.added.append(obj)

    def add_recoverables(self, recoverables: Mapping[str, Any]) -> None:
        self.added.extend(recoverables.values())


def recipe_optimisation(session: Session, claim: NotTrained | OptimizerNotSaved) -> Verdict:
    """Whether the optimizers that a Brain's own `init_optimizers` makes are given a layer's parameters.

    Or whether one that it makes on a line is added to the checkpointer.
    """
    key: str | None = getattr(claim, "key", None)
    makes: Place | None = getattr(claim, "made", None)
    made: list[tuple[torch.optim.Optimizer, bool]] = []
    checkpointer = _Checkpointer()
    with placement.pretended():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build(None)
        found = None if key is None else lookup(objects, key)
        if key is not None and (_is_unbuilt(found) or not isinstance(found, nn.Module)):
            return unconfirmed(f"`{key}` could not be built: {recipe.reason(found)}")
        session.begin("importing the script")
        brain = _brain(session, claim, objects, checkpointer)
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
    return _optimised(key, _learning(found), made)


def _optimised(
    name: str, wanted: list[nn.Parameter], made: list[tuple[torch.optim.Optimizer, bool]], device: str = "fake"
) -> Verdict:
    if not wanted:
        return refuted(f"`{name}` has no parameters that learn", "fake")
    given = _given(made)
    number = sum(id(parameter) in given for parameter in wanted)
    optimizers = "1 optimizer" if len(made) == 1 else f"{len(made)} optimizers"
    fact = f"{optimizers} with {len(given)} parameters, {number} of the {len(wanted)} of `{name}` among them"
    return refuted(f"made {fact}", "fake") if number == len(wanted) else confirmed(f"made {fact}", device)


def _brain(
    session: Session,
    claim: NotTrained | OptimizerNotSaved | NotWrapped,
    objects: dict[str, Any],
    checkpointer: _Checkpointer,
) -> Any:
    """A Brain as far as its methods need it: its own constructor has run, the framework's has not."""
    cls = Source(claim.script, session.stand_ins).find(claim.brain)
    entries = objects.get(recipes.MODULES) or {}
    modules = nn.ModuleDict({name: layer for name, layer in entries.items() if isinstance(layer, nn.Module)})
    kept = {
        "modules": modules,
        "mods": modules,
        "hparams": SimpleNamespace(**objects),
        "opt_class": objects.get("opt_class"),
        "checkpointer": checkpointer,
        "device": placement.DEVICE,
    }
    brain = _constructed(cls, kept)
    if brain is None:
        brain = object.__new__(cls)
        vars(brain).update(kept)
    return brain


def _constructed(cls: type, kept: dict[str, Any]) -> Any:
    """An object whose constructors ran, the framework's left out; None where there are none, or they need more."""
    framework = next((one for one in cls.__mro__[1:] if _is_framework(one)), None)
    if framework is None or cls.__init__ is framework.__init__:  # type: ignore[misc]
        return None
    original = vars(framework).get("__init__")

    def init(self: Any, *_: Any, **__: Any) -> None:
        vars(self).update(kept)

    type.__setattr__(framework, "__init__", init)
    try:
        return cls(kept["modules"], kept["opt_class"], vars(kept["hparams"]), {}, kept["checkpointer"])
    except Exception:
        return None
    finally:
        if original is None:
            type.__delattr__(framework, "__init__")
        else:
            type.__setattr__(framework, "__init__", original)


def _is_framework(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "speechbrain" or issubclass(cls, StandIn)


def _fill(brain: Any, objects: dict[str, Any]) -> None:
    """Give what could not be built a parameter: an optimizer can be made of it, whatever it is."""
    for name, made in (objects.get(recipes.MODULES) or {}).items():
        if _is_unbuilt(made) and not isinstance(made, nn.Module):
            brain.modules[name] = recipes.Unbuilt(name, "")
    layers = (one for one in (*objects.values(), *brain.modules.values()) if isinstance(one, nn.Module))
    for layer in layers:
        for part in layer.modules():
            if isinstance(part, recipes.Unbuilt):
                part.filler = nn.Parameter(torch.empty(1))


def optimisation(session: Session, claim: NotListed) -> Verdict:
    """Whether the optimizers that a function of a file makes are given the parameters of a child of a model."""
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
        given = _given(made)
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
    wanted = _learning(found) if isinstance(found, nn.Module) else [found]
    return _optimised(f"{owner}.{child}" if child else owner, wanted, made)


def _short(name: str) -> str:
    return name.rpartition(".")[2]


class _Watch(TorchFunctionMode):
    """What moves at a place give, each with what was moved, and what is used once an optimizer is `made`, but by it."""

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
    """Whether the innermost code that runs, but for the rest of torch and for this, is an optimizer's."""
    frame, own = inspect.currentframe(), (os.path.dirname(torch.__file__), os.path.dirname(__file__))
    while frame is not None and frame.f_code.co_filename.startswith(own):
        if frame.f_code.co_filename.startswith(os.path.dirname(torch.optim.__file__)):
            return True
        frame = frame.f_back
    return False


def replacement(session: Session, claim: MovedLate) -> Verdict:
    """Whether a move gives another tensor than the one that an optimizer was given, and that no other one is given.

    It does not if the optimizer holds what is used, or kept by the object that made it.
    """
    made: list[tuple[torch.optim.Optimizer, bool]] = []
    reasons: list[str] = []
    kept: set[int] = set()
    watch = _Watch(Spot.of(claim.place), made)
    with placement.pretended(), _optimizers(made, Spot.of(claim.optimizer)), watch:
        for owner in _begun(session, claim.function, reasons):
            kept.update(id(part) for part in vars(owner).values() if isinstance(part, torch.Tensor))
            if any(is_there for _, is_there in made):
                break
    given = _given(made)
    moved = [(before, after) for before, after in watch.moved if id(before) in given and after is not before]
    if not moved:
        is_idle = any(after is before and str(after.device) != placement.DEVICE for before, after in watch.moved)
        is_held = not is_idle and not _given([one for one in made if one[1]]).isdisjoint(watch.used | kept)
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


def _begun(session: Session, function: str, reasons: list[str]) -> Iterator[Any]:
    """Run a function of the file, or make an object where it is a constructor: what that gives, or the function."""
    owner, _, name = function.rpartition(".")
    if name != "__init__":
        session.source()
        yield from () if function == "<module>" else _calls(session, function, reasons, placement.DEVICE)
        return
    for attempt in session.attempts(owner, device=placement.DEVICE):
        built = _built(attempt, reasons)
        if built is not None:
            yield built


def _built(attempt: Attempt, reasons: list[str]) -> Any:
    try:
        return attempt.build()
    except Exception as error:
        reasons.append(f"building: {described(error)}")
        return None


def _calls(session: Session, function: str, reasons: list[str], device: str = "cpu") -> Iterator[Any]:
    """Call a function of the file, with one choice of inputs after the other, and say which it is."""
    for call, inputs in prepared(session, function, reasons, device):
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


# -- wrapped ---------------------------------------------------------------------------------------------------------


class _Wrapper(nn.Module):
    """What a framework puts around an entry of `modules`, if that has parameters to train."""

    def __init__(self, module: nn.Module | StandIn) -> None:
        super().__init__()
        self.module = module


def wrapping(session: Session, claim: NotWrapped) -> Verdict:
    """Whether what a script calls at a place is the module inside of the wrapper that an entry of `modules` becomes."""
    key, entry, spot = claim.key, claim.entry, Spot.of(claim.called)
    with placement.pretended():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build({_top(key), recipes.MODULES})
        wrapped = lookup(objects, entry)
        session.begin("importing the script")
        brain = _brain(session, claim, objects, _Checkpointer())
        entries = (objects.get(recipes.MODULES) or {}).items()
        wrappers = {name: _Wrapper(module) for name, module in entries if isinstance(module, nn.Module | StandIn)}
        vars(brain).update(modules=nn.ModuleDict(wrappers), mods=nn.ModuleDict(wrappers))
        session.begin(f"looking at {spot.name}")
        source = session.load(spot.path)
        try:
            text, called = _evaluated(source, spot, brain, CLAIMS.name_at(claim, claim.called))
        except AttributeError:
            if not _is_unbuilt(wrapped):
                raise
            return unconfirmed(f"`{entry}` could not be built: {recipe.reason(wrapped)}")
        if isinstance(called, _Wrapper):
            return refuted(f"`{text}` is what the framework wraps", "fake")
        if _is_unbuilt(wrapped) or not isinstance(wrapped, nn.Module):
            return unconfirmed(f"`{entry}` could not be built: {recipe.reason(wrapped)}")
        if called is not wrapped:
            return refuted(f"`{text}` and `{entry}` are two objects", "fake")
        number = len(_learning(wrapped))
        if not number:
            return refuted(f"`{text}` has no parameters to train, so that nothing wraps it", "fake")
    fact = f"`{text}` is the very module inside of the wrapper of `{entry}`, with {number} parameters to train"
    session.begin(f"running `{key}`")
    try:
        exchanged = _exchanged(wrapped)
    except Exception:
        exchanged = None
    if exchanged is None:
        return confirmed(fact, "fake")
    raw, proper = exchanged
    if raw:
        return refuted(f"a call of `{text}` exchanges {raw} gradients", "fake")
    detail = f"{fact}: a call of it exchanges 0 gradients with the other process, one of the wrapper {proper}"
    return confirmed(detail)


def _evaluated(source: Source, spot: Spot, brain: Any, name: str) -> tuple[str, Any]:
    """What is called at a place of a method, given by its name, and what that is for an object of its class.

    Raises what evaluating it raises: NameError where it takes local variables.
    """
    node = expression(source.tree, spot)
    method = next(iter(definitions(source.tree, name)), None)
    if node is None or not isinstance(method, ast.FunctionDef) or not method.args.args:
        raise LookupError(f"no method calls anything at {spot.name}")
    text = ast.unparse(node)
    names = {**vars(source.module), method.args.args[0].arg: brain}
    called = eval(compile(ast.Expression(node), spot.path, "eval"), names)
    return text, getattr(called, "__self__", called)


def _exchanged(module: nn.Module) -> tuple[int, int] | None:
    """How many gradients a backward pass exchanges between two processes, after a call of a module and of its wrapper.

    The other process is pretended. None if that cannot be seen. Raises whatever torch raises.
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
    wrapper.register_comm_hook(sent, _sent)
    numbers = []
    for called in (module, wrapper):
        sent.clear()
        result = called(given)
        next(part for part in placement.below(result) if isinstance(part, torch.Tensor)).sum().backward()
        numbers.append(sum(sent))
    return numbers[0], numbers[1]


def _sent(sent, bucket):  # type: ignore[no-untyped-def]  # torch refuses annotations other than its own
    """Note how many gradients are to be exchanged, and take ours for the sum."""
    sent.append(len(bucket.gradients()))
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def _give_numbers(module: nn.Module) -> None:
    """Put small real numbers into the place of fake parameters and buffers."""
    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter is not None:
                numbers = torch.randn(parameter.shape) * 0.02
                part._parameters[name] = nn.Parameter(numbers, parameter.requires_grad)
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = torch.zeros(buffer.shape, dtype=buffer.dtype)
