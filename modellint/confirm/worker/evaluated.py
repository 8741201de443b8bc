"""The check of modes: calls in evaluation that differ, by what is drawn, what is kept, or the other rows of a batch."""

from __future__ import annotations

import ast
import copy
import linecache
import random
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

from . import placement, roles
from .checking import FAILED, LARGE, NOT_RUN, PASSED, TargetCall, TargetCheck, arguments_of, too_many
from .places import innermost
from .seeds import seed_generators
from .specs import BATCH, Spec
from .verdicts import NOTHING, PART, WHOLE, Verdict, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

    from modellint.claims import Claim

    from .session import Session

#: The files of torch's functions that are written in Python, and of what lets them be observed.
_WRITTEN_OUT = (torch.nn.functional.__file__, torch.overrides.__file__)
_BATCH_NORM, _ATTENTION = "batch_norm", "scaled_dot_product_attention"
#: Functions that drop elements unless they are told not to.
_DROPPING = ("dropout", "rrelu")


def modes_check(session: Session, _: Claim) -> Verdict:
    """Call the target twice in evaluation, with what must be passed to it: passed if both give the same.

    It fails for dropout, for layers that stay in training and for statistics of the batch. If the code draws or keeps
    something else, it passes in part.
    """
    check = TargetCheck(session)
    with check.small() as size:
        if size > LARGE:
            return Verdict(NOT_RUN, None, too_many(size))
        for variant in (0, roles.EQUAL):
            for call in check.calls(variant):
                if not call.has_modes:
                    return check.nothing(call, "it is no module, and has no modes")
                evaluation = _Evaluation(call)
                for specs in check.specs(call):
                    outcome = evaluation.verdict(specs)
                    if not isinstance(outcome, Exception):
                        return check.as_far_as_built(call, outcome)
                    check.learn(call, outcome, specs)
        return check.not_run()


@dataclass(frozen=True)
class _Cause:
    """A call of torch that draws random numbers, or takes the statistics of a batch; `is_meant` if it is told to."""

    name: str
    place: str
    is_meant: bool

    def __str__(self) -> str:
        return f"`{self.name}`" + (f" at {self.place}" if self.place else "")


class _Causes(TorchFunctionMode):
    """Notes the functions that draw random numbers, and those that take the statistics of a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[_Cause] = []
        self.of_batch: list[_Cause] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        before = torch.default_generator.get_state()
        result = func(*args, **kwargs)
        name, frame = getattr(func, "__name__", ""), sys._getframe(1)
        if not torch.equal(before, torch.default_generator.get_state()):
            self.drawn.append(_Cause(name, innermost(frame), _is_meant(name, frame)))
        if name == _BATCH_NORM and (kwargs.get("training") or (len(args) > 5 and args[5] is True)):
            layer = _layer_of(_caller(frame), nn.modules.batchnorm._BatchNorm)
            is_meant = layer is not None and not layer.training
            self.of_batch.append(_Cause(name, innermost(frame), is_meant))
        return result


def _is_meant(name: str, frame: FrameType | None) -> bool:
    """True if code asks for random numbers in evaluation: it samples, or tells dropout to be on."""
    if name == _ATTENTION:
        return False
    if not any(word in name for word in _DROPPING):
        return True
    caller = _caller(frame)
    return caller is not None and _layer_of(caller, nn.modules.dropout._DropoutNd) is None and _is_told(name, caller)


def _is_told(name: str, frame: FrameType) -> bool:
    """True if all calls of a function on a line tell if it is in training, or if the code is not known."""
    text = "".join(linecache.getlines(frame.f_code.co_filename))
    try:
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return True
    here = [call for call in calls if call.lineno <= frame.f_lineno <= (call.end_lineno or 0)]
    named = [call for call in here if ast.unparse(call.func).rpartition(".")[2] == name]
    return all(
        len(call.args) > 2 or any(one.arg in ("training", "train", None) for one in call.keywords) for call in named
    )


def _caller(frame: FrameType | None) -> FrameType | None:
    """The frame that calls a function of torch which is written in Python, or that itself."""
    while frame is not None and frame.f_code.co_filename in _WRITTEN_OUT:
        frame = frame.f_back
    return frame


def _layer_of(frame: FrameType | None, kind: Any) -> Any:
    """The layer of torch whose `forward` a frame runs; None if it runs other code."""
    found = None if frame is None else frame.f_locals.get("self")
    return found if isinstance(found, kind) else None


class _Evaluation:
    """Calls of one object in evaluation."""

    def __init__(self, call: TargetCall) -> None:
        self._call = call
        self._owner: nn.Module = call.owner

    def verdict(self, specs: dict[str, Spec]) -> Verdict | Exception:
        """The verdict of calls with the same inputs, or the error that prevents one."""
        self._call.train(True)
        self._owner.eval()
        given = arguments_of(specs, "cpu")
        state = {path: tensor.clone() for path, tensor in placement.tensors(self._owner)}
        causes = _Causes()
        first = self._run(specs, given, 0, causes)
        if isinstance(first, Exception):
            return first
        self._call.note(specs)
        changed = [
            path for path, one in placement.tensors(self._owner) if path in state and not _same(one, state[path])
        ]
        if fact := self._of_modes():
            return Verdict(FAILED, "cpu", fact)
        second = self._run(specs, given, 1, causes)
        if isinstance(second, Exception):
            return Verdict(PASSED, "cpu", f"a second call in evaluation raises {type(second).__name__}", PART)
        if not _same(first, second):
            return self._differing(specs, given, second, causes.drawn, changed)
        if causes.of_batch and (fact := self._of_rows(specs, given, causes.of_batch)):
            is_meant = all(cause.is_meant for cause in causes.of_batch)
            return Verdict(PASSED if is_meant else FAILED, "cpu", fact, PART if is_meant else WHOLE)
        if not first:
            return Verdict(NOT_RUN, None, "a call gives no tensor", NOTHING)
        kept = f", though a call changes {quoted(changed)}" if changed else ""
        return Verdict(PASSED, "cpu", f"two calls in evaluation give the same{kept}")

    def _run(
        self, specs: dict[str, Spec], given: dict[str, Any], seed: int, *modes: Any
    ) -> list[torch.Tensor] | Exception:
        """The tensors that a call gives, or its error; another seed draws other numbers."""
        seed_generators(seed)
        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed)
        error = self._call.run(specs, "cpu", *modes, given=copy.deepcopy(given))
        if error is not None:
            return error
        return [one.clone() for one in placement.below(self._call.result) if isinstance(one, torch.Tensor)]

    def _of_modes(self) -> str:
        """A sentence if a part is in training after `eval()`; empty if none is."""
        parts = dict(self._owner.named_modules())
        stuck = [name or type(part).__name__ for name, part in parts.items() if part.training and _has_modes(part)]
        return f"after `eval()`, {quoted(stuck)} is still in training" if stuck else ""

    def _differing(
        self, specs: dict[str, Spec], given: Any, second: list[torch.Tensor], drawn: list[_Cause], changed: list[str]
    ) -> Verdict:
        """The verdict on two calls that differ, with the cause."""
        says = "two calls in evaluation with the same inputs differ"
        wrong = dict.fromkeys(str(cause) for cause in drawn if not cause.is_meant)
        if wrong:
            return Verdict(FAILED, "cpu", f"{says}: {_as_text(wrong)} drops elements after `eval()`, too")
        again = self._run(specs, given, 1)
        if not isinstance(again, Exception) and _same(second, again):
            meant = dict.fromkeys(str(cause) for cause in drawn)
            source = f"{_as_text(meant)} draws" if meant else "the code draws"
            return Verdict(PASSED, "cpu", f"{says}: {source} random numbers", PART)
        cause = f"a call changes {quoted(changed)}" if changed else "a call changes something that the object keeps"
        return Verdict(PASSED, "cpu", f"{says}: {cause}", PART)

    def _of_rows(self, specs: dict[str, Spec], given: dict[str, Any], causes: list[_Cause]) -> str:
        """A sentence if the result of a row depends on the other rows of its batch; empty if it does not."""
        first = self._run(specs, given, 0)
        other = self._run(specs, tree_map_only(torch.Tensor, _with_other_rows, given), 0)
        if isinstance(first, Exception) or isinstance(other, Exception) or len(first) != len(other):
            return ""
        pairs = [(one, two) for one, two in zip(first, other, strict=True) if one.dim() and one.shape[0] == BATCH]
        if all(_same(one[:1], two[:1]) for one, two in pairs):
            return ""
        shown = dict.fromkeys(map(str, causes))
        return f"in evaluation, the result of a row depends on the other rows: {_as_text(shown)} takes their statistics"


def _has_modes(part: nn.Module) -> bool:
    """True for a layer that does something else in training."""
    kinds = (nn.modules.dropout._DropoutNd, nn.modules.batchnorm._BatchNorm)
    return isinstance(part, kinds)


def _with_other_rows(tensor: torch.Tensor) -> torch.Tensor:
    """A batch of real numbers whose rows but for the first are others."""
    if not tensor.is_floating_point() or not tensor.dim() or tensor.shape[0] != BATCH:
        return tensor
    return torch.cat([tensor[:1], tensor[1:] * 2 + 1])


def _as_text(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(names[:3]) + (" …" if names[3:] else "")


def _same(one: Any, other: Any) -> bool:
    """True if tensors, or lists of them, are equal but for rounding."""
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(_same, one, other))
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point() and not one.is_complex():
        return bool(torch.equal(one, other))
    return bool(torch.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True))
