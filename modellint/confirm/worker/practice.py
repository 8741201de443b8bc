"""Steps of training that are run to see one of their calls: with promised batches, models and optimizers."""

from __future__ import annotations

import ast
import inspect
import sys
import time
from abc import ABC, abstractmethod
from contextlib import ExitStack, contextmanager
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from . import called, roles
from .attempts import Attempt
from .classes import Builder
from .complaints import Complaint
from .making import seeing
from .promised import Promised, Promises
from .seeds import seed_generators
from .several import tree_of
from .signatures import VARIADIC, annotation_of, init_of, is_tensor_type
from .specs import Spec, configured_spec
from .standins import described, likeliest
from .telling import Layers
from .unread import promising_data
from .verdicts import Verdict, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .places import Spot
    from .session import Session

#: Names that tell tensors, though they could be those of sizes.
_OF_TENSORS = (called.IDS, called.MASK, called.LENGTHS, called.POSITIONS, called.FLOATS, called.EXAMPLES, called.WAVES)
_OF_NUMBERS = (roles.counts_ids, roles.is_width, roles.is_length, roles.is_depth, roles.is_heads, called.NUMBER.search)
#: Seconds of processor time after which the runs for a verdict end.
_PATIENCE = 25.0
#: So many runs with other numbers are made where chance decides.
_SEEDS = 4
#: Functions that drop elements.
_DROPPING = tuple(getattr(nn.functional, name) for name in dir(nn.functional) if "dropout" in name and name[0] != "_")
#: So many runs are made with other sides of images.
_MOST_SHAPES = 6
_MISSING = inspect.Parameter.empty


class SeenError(BaseException):
    """Ends a run in which a verdict was found, past all handlers of the code."""


class LateError(BaseException):
    """Ends a run that takes too long."""


class Watch(TorchFunctionMode, ABC):
    """Judges the functions of torch that run for the expression at a place, or in layers that it makes.

    There is no GPU: what would go to one stays.
    """

    def __init__(self, spot: Spot, made_at: Spot | None = None) -> None:
        """`made_at` is the place that makes layers, if it is another one."""
        super().__init__()
        self._spot = spot
        self._made_at = made_at or spot
        self._end = time.process_time() + _PATIENCE
        #: The layers that are made at the place, and all optimizers.
        self.made: list[nn.Module] = []
        self.optimizers: list[torch.optim.Optimizer] = []
        #: The numbers of those that importing the file made.
        self._imported = (0, 0)
        self.layers = Layers(Promises())
        self.outcome: Verdict | None = None
        #: True once the place was reached, but told nothing.
        self.is_undecided = False

    @abstractmethod
    def judge(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]) -> Any:
        """Run a call of torch at the place; gives its result, or sets `outcome`."""

    def conclude(self, result: Any) -> None:
        """Look at what the whole function returned, to which the run has come without a verdict."""

    def note_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        """Look at an optimizer that was made at the place."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.cuda or (func in _DROPPING and args):  # neither changes what a tensor is
            return args[0]
        args, kwargs = _on_cpu(args, kwargs or {})
        if time.process_time() > self._end:
            raise LateError
        if args and isinstance(args[0], Promised) and func in (torch.as_tensor, torch.tensor, torch.asarray):
            return Promised.__torch_function__(func, types, args, kwargs)
        if not self._is_there(sys._getframe(1)):
            return func(*args, **kwargs)
        result = self.judge(getattr(func, "__name__", ""), args, kwargs, partial(func, *args, **kwargs))
        if self.outcome is not None:
            raise SeenError
        return result

    def _is_there(self, frame: Any) -> bool:
        """True if the place is being evaluated, or a layer that it made is running."""
        is_made_there = any(layer is one for layer in self.layers.running for one in self.made)
        return is_made_there or self._spot.is_running(frame)

    def note_made(self, layer: nn.Module, frame: Any) -> None:
        """Note a layer if it is made at the place."""
        if self._made_at.is_running(frame):
            self.made.append(layer)

    def _making_optimizers(self) -> Any:
        """The constructor of optimizers, which notes them."""
        original = torch.optim.Optimizer.__init__

        def init(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:
            original(optimizer, *args, **kwargs)
            self.optimizers.append(optimizer)
            if self._made_at.is_running(sys._getframe(1)):
                self.note_optimizer(optimizer)
                if self.outcome is not None:
                    raise SeenError

        return init

    def keep_made(self) -> None:
        """Keep the layers and optimizers made so far for all later runs."""
        self._imported = (len(self.made), len(self.optimizers))

    @contextmanager
    def watching(self, promises: Promises, seed: int = 0) -> Iterator[None]:
        """Watch a run that is given some promised arguments."""
        self.layers, self.is_undecided = Layers(promises), False
        layers, optimizers = self._imported
        del self.made[layers:], self.optimizers[optimizers:]
        seed_generators(seed)
        with ExitStack() as stack:
            stack.enter_context(patch.object(nn.Module, "cuda", lambda layer, *_, **__: layer))
            stack.enter_context(patch.object(sys, "argv", ["train.py"]))
            stack.enter_context(promising_data(promises))
            stack.enter_context(self.layers.telling())
            stack.enter_context(seeing(nn.Module, self.note_made))
            stack.enter_context(patch.object(torch.optim.Optimizer, "__init__", self._making_optimizers()))
            stack.enter_context(torch.enable_grad())
            stack.enter_context(self)
            yield


def practise(session: Session, watch: Watch) -> Verdict:
    """The first verdict of all runs of the session's function, or of its file for code outside of functions."""
    reasons: list[str] = []
    try:
        with watch.watching(Promises(_importing(session))):
            session.source_again()
        watch.keep_made()
        for attempt in _attempts(session) if session.name else ():
            for is_full in (False, True):
                for seed in range(_SEEDS):
                    is_done = _call(session, attempt, watch, reasons, seed, is_full=is_full)
                    if not watch.is_undecided:
                        break
                if is_done:
                    break
        _run_as_script(session, watch, reasons)
    except SeenError:
        assert watch.outcome is not None
        return watch.outcome
    except LateError:
        reasons.append(f"{_PATIENCE:.0f} seconds of it did not reach the place")
    return unconfirmed(likeliest(reasons or ["importing the file does not reach it"]))


def _run_as_script(session: Session, watch: Watch, reasons: list[str]) -> None:
    """Run the session's file as a script, if it has code that is for scripts only."""
    source = session.source()
    if not any(isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) for node in source.tree.body):
        return
    session.begin("running the file as a script")
    names = {"__name__": "__main__", "__file__": source.path}
    try:
        with watch.watching(Promises(_importing(session))):
            exec(compile(source.tree, source.path, "exec"), names)
    except (Exception, SystemExit) as error:
        reasons.append(f"running it as a script: {described(error)[:200]}")


def _attempts(session: Session) -> Iterator[Attempt]:
    """Ways to build the owner of the session's function, with numbers of several sizes, and with equal ones."""
    owner, _ = session.source().split(session.name)
    for variant in (0, roles.EQUAL):
        yield from session.attempts(owner, variant=variant)


def _importing(session: Session) -> Attempt:
    """The attempt for code that runs while the session's file is imported: only its text is known."""
    with open(session.target, "rb") as stream:
        known: Any = SimpleNamespace(path=session.target, tree=ast.parse(stream.read()), module=ModuleType("script"))
    session.builder = Builder(known, {})
    return Attempt(session.builder, None, {})


def _call(session: Session, attempt: Attempt, watch: Watch, reasons: list[str], seed: int, *, is_full: bool) -> bool:
    """Build the owner of the session's function, and call that, with `is_full` with what may be None, too.

    Adds to the reasons why that tells nothing. True if there is nothing more to pass.
    """
    pending: list[dict[torch.Size, torch.Size]] = [{}]
    tried: list[dict[torch.Size, torch.Size]] = []
    while pending and len(tried) < _MOST_SHAPES:
        known = pending.pop(0)
        if known in tried:
            continue
        tried.append(known)
        promises = Promises(attempt, known)
        stage, error = _error_of(session, attempt, watch, promises, seed, is_full=is_full)
        if error is None:
            reasons.append(
                "what it is given there decides nothing" if watch.is_undecided else "a call did not reach it"
            )
            return watch.is_undecided
        reasons.append(f"{stage}: {described(error)[:200]}")
        if stage == "building":
            return True
        pending += _other_shapes(error, promises.shapes, known)
    return False


def _error_of(
    session: Session, attempt: Attempt, watch: Watch, promises: Promises, seed: int, *, is_full: bool
) -> tuple[str, BaseException | None]:
    """The stage and the error of a run; None if it comes to its end."""
    stage = "building"
    attempt.builder.unknown = promises.make
    _, method = session.source().split(session.name)
    try:
        with watch.watching(promises, seed):
            owner = _build_owner(attempt, promises)
            stage = "calling it"
            if isinstance(owner, nn.Module) or not session.name.endswith(".__init__"):
                function = getattr(owner, method) if method else owner
                said = attempt.configured.get("inputs", {})
                given = _arguments(function, attempt, promises, said, is_full=is_full)
                # Layers whose inputs only their names tell are called as others call them.
                result = (owner if method == "forward" and isinstance(owner, nn.Module) else function)(**given)
                watch.conclude(result)
                if watch.outcome is not None:
                    raise SeenError
    except (Exception, SystemExit) as error:
        return stage, error
    return stage, None


def _other_shapes(
    error: BaseException, shapes: Sequence[torch.Size], known: Mapping[torch.Size, torch.Size]
) -> Iterator[dict[torch.Size, torch.Size]]:
    """Shapes of images that an error asks for, in place of those that a run had."""
    complaint = Complaint(error)
    before = {new: old for old, new in known.items()}
    for shape in dict.fromkeys(shapes):
        for side in complaint.image_sides(Spec("float", tuple(shape))):
            yield {**known, before.get(shape, shape): torch.Size((*shape[:2], side, side))}


def _build_owner(attempt: Attempt, promises: Promises) -> Any:
    """The function, or an object of the class: what is no layer is given promised arguments."""
    cls = attempt.found
    if isinstance(cls, type) and not issubclass(cls, nn.Module):
        given = _arguments(init_of(cls), attempt, promises, attempt.configured.get("arguments", {}))
        return cls(**given)
    return attempt.build()


def _arguments(
    function: Any, attempt: Attempt, promises: Promises, said: Any, *, is_full: bool = False
) -> dict[str, Any]:
    """The arguments of a function: objects of annotated classes, numbers by their names, and promised ones."""
    found: dict[str, Any] = {}
    tree = tree_of(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in VARIADIC or name == "self":
            continue
        if name in said:
            found[name] = configured_spec(name, said[name]).make("cpu")
        elif parameter.default is None and is_full:
            found[name] = promises.make(name)
        elif parameter.default is _MISSING:
            use = roles.ParameterUse() if tree is None else roles.uses(tree, name)
            found[name] = _argument(name, annotation_of(function, parameter), use, attempt, promises)
    return found


def _argument(name: str, annotation: Any, use: roles.ParameterUse, attempt: Attempt, promises: Promises) -> Any:
    """One argument that nothing gives."""
    lower = name.lower()
    if roles.is_device(lower):
        return torch.device("cpu")
    if annotation is torch.Tensor or is_tensor_type(annotation):
        return promises.make(name)
    known = attempt.builder.by_annotation(annotation, name)
    if known is not _MISSING:
        return known
    is_plain = not (use.has_attributes or use.is_called or use.is_iterated or use.is_keyed)
    is_number = is_plain and not any(pattern.search(lower) for pattern in _OF_TENSORS)
    if use.words or roles.is_settings(lower) or (is_number and any(tells(lower) for tells in _OF_NUMBERS)):
        return attempt.builder.by_use(name, use, 0)
    return promises.make(name)


def _on_cpu(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a function of torch, with the CPU in place of each GPU."""
    if not any(map(_is_gpu, (*args, *kwargs.values()))):
        return args, kwargs
    return tuple("cpu" if _is_gpu(one) else one for one in args), {
        name: "cpu" if _is_gpu(one) else one for name, one in kwargs.items()
    }


def _is_gpu(given: Any) -> bool:
    """True if an argument is a GPU, or its name."""
    return (isinstance(given, torch.device) and given.type == "cuda") or (
        isinstance(given, str) and given.startswith("cuda")
    )
