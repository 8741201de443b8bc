"""The check of widths: a layer gets another size than it takes, with any inputs.

Made-up inputs must have no part in it. So each size of the inputs is changed in turn: a misfit of the model's own
stays as it is, or an earlier operation refuses the change.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.modules import module as hooks
from torch.overrides import TorchFunctionMode

from . import roles
from .checking import FAILED, LARGE, NOT_RUN, PASSED, TargetCheck, resized
from .making import seeing
from .places import innermost, raised_at
from .seeds import seed_generators
from .standins import described
from .tensors import tensors_in
from .verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims import Claim

    from .checking import Specs, TargetCall
    from .classes import Builder
    from .session import Session

#: Attributes of layers with the size of a dimension of their input.
_TAKES = ("in_features", "input_size", "embed_dim", "normalized_shape", "in_channels", "num_features", "num_channels")
#: The choices of assumed numbers that tell these from the model's own.
_VARIANTS = (0, 2, roles.EQUAL)

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Misfit:
    """A layer, or a function of torch, that gets another size than it takes."""

    layer: str
    place: str
    taken: int
    given: int


class _Seen(TorchFunctionMode):
    """Records the layers that are running, those that are done, and the calls of torch functions."""

    def __init__(self) -> None:
        super().__init__()
        #: The number of torch functions that ended; and the name and the sizes of the one that failed.
        self.number = 0
        self.refused: tuple[str, list[Sizes]] | None = None
        #: The running layers, the innermost last, with the sizes of their inputs.
        self.running: list[tuple[nn.Module, list[Sizes]]] = []
        #: The torch layers that are done, with the sizes of their results.
        self.done: list[tuple[nn.Module, list[Sizes]]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            result = func(*args, **(kwargs or {}))
        except Exception:
            if self.refused is None:
                self.refused = str(getattr(func, "__name__", func)), _sizes((args, kwargs))
            raise
        self.number += 1
        return result

    def __enter__(self) -> Any:
        self._handles = [
            hooks.register_module_forward_pre_hook(lambda layer, given: self.running.append((layer, _sizes(given)))),
            hooks.register_module_forward_hook(self._end),
        ]
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()
        super().__exit__(*error)

    def _end(self, layer: nn.Module, given: Any, result: Any) -> None:
        while self.running and self.running.pop()[0] is not layer:
            pass
        if _is_torchs(layer):
            self.done.append((layer, _sizes(result)))

    def misfit(self, error: Exception, names: dict[int, str]) -> Misfit | None:
        """The misfit behind an error; None if the error is no misfit."""
        layer, given = self.running[-1] if self.running else (None, [])
        taken = _size_taken(layer)
        if layer is not None and taken is not None and given and _is_torchs(layer):
            found = _size_given(layer, given[0])
            if found is not None and found != taken:
                return Misfit(names.get(id(layer), type(layer).__name__), raised_at(error), taken, found)
        sizes = None if self.refused is None else _unequal(*self.refused)
        return None if sizes is None or self.refused is None else Misfit(self.refused[0], raised_at(error), *sizes)

    def giver(self, size: int) -> nn.Module | None:
        """The last layer that gave a result of a size."""
        return next((layer for layer, sizes in reversed(self.done) if any(size in one[1:] for one in sizes)), None)


def _sizes(values: Any) -> list[Sizes]:
    return [tuple(part.shape) for part in tensors_in(values)]


def _is_torchs(layer: nn.Module) -> bool:
    return type(layer).__module__.startswith("torch.nn.")


def _size_taken(layer: nn.Module | None) -> int | None:
    """The size that a layer says it takes; None if it says none."""
    for name in _TAKES:
        found = getattr(layer, name, None)
        size = found[-1] if isinstance(found, tuple) else found
        if type(size) is int:
            return size
    return None


def _size_given(layer: nn.Module, sizes: Sizes) -> int | None:
    """The size of a layer's input in the dimension that `_size_taken` is about; None if it has no such dimension."""
    at = -1
    if isinstance(layer, nn.modules.conv._ConvNd):
        at = -1 - len(layer.kernel_size)
    elif hasattr(layer, "num_features") or hasattr(layer, "num_channels"):
        at = 1
    return sizes[at] if -len(sizes) <= at < len(sizes) else None


def _unequal(name: str, sizes: list[Sizes]) -> tuple[int, int] | None:
    """The two sizes for which a function refuses two tensors; None if it does not."""
    if len(sizes) < 2 or not sizes[0] or not sizes[1]:
        return None
    one, other = sizes[:2]
    if "mm" in name or "matmul" in name:
        inner = other[-2] if len(other) > 1 else other[-1]
        return (inner, one[-1]) if inner != one[-1] else None
    if name == "linear":
        return (other[-1], one[-1]) if other[-1] != one[-1] else None
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next(((b, a) for a, b in pairs if a != b and 1 not in (a, b)), None)


def shapes_check(session: Session, _: Claim) -> Verdict:
    """The check that the layers of a model fit each other.

    A misfit that rests on assumed numbers must be the same with other choices of all of them.
    """
    if session.works_when_large:
        return Verdict(PASSED, "fake", "the call works")
    first: Verdict | None = None
    seen: list[Misfit] = []
    for variant in _VARIANTS:
        check = TargetCheck(session)
        with FakeTensorMode(allow_non_fake_inputs=True) if check.size(variant) > LARGE else nullcontext():
            outcome, found = _verdict_of_calls(check, variant)
        if found is None:
            if first is None or outcome.status is PASSED:
                return outcome
            break
        misfit, builder = found
        first = first or outcome
        seen.append(misfit)
        if not (builder.numbers.assumed or builder.is_guessed):
            return first
        if misfit != seen[0] or builder.is_guessed or not all(map(_varies, builder.numbers.assumed)):
            break
    else:
        if first is not None:
            return first
    assert first is not None
    return Verdict(NOT_RUN, None, f"it depends on what was assumed: {first.detail}")


def _varies(name: str) -> bool:
    """True if each choice has another number for a name."""
    return len({roles.Numbers(variant).number(name) for variant in _VARIANTS}) == len(_VARIANTS)


def _verdict_of_calls(check: TargetCheck, variant: int) -> tuple[Verdict, tuple[Misfit, Builder] | None]:
    """The verdict of calls; if it is a misfit that no call gets past, with that misfit and its builder."""
    made: dict[int, str] = {}
    first: tuple[Verdict, tuple[Misfit, Builder]] | None = None
    with seeing(nn.Module, lambda layer, frame: made.__setitem__(id(layer), innermost(frame))):
        for call in check.calls(variant):
            builder = call.attempt.builder
            found: list[tuple[Verdict, Misfit]] = []
            #: The progress of each call, and the misfit that ended it.
            ends: list[tuple[int, Misfit | None]] = []
            if next(_parameters(call), None) is None:
                return check.nothing(call, "it has no parameters"), None
            for specs in check.specs(call):
                seen, error = _run(call, specs)
                if error is None:
                    call.note(specs)
                    outcome = Verdict(PASSED, "cpu", _fitting(seen))
                    return check.everywhere(call, specs, outcome, partial(_judge, call, made, specs)), None
                misfit = seen.misfit(error, _names(call, made))
                ends.append((seen.number, misfit))
                if not found and misfit is not None and _is_own(call, specs, misfit, seen.number, made):
                    found.append((_misfit_verdict(call, specs, misfit, seen, error, made), misfit))
                check.learn(call, error, specs)
            for outcome, misfit in found:
                least = min(number for number, one in ends if one == misfit)
                if all(one == misfit or (one is None and number == least) for number, one in ends if number >= least):
                    first = first or (outcome, (misfit, builder))
            if first is not None and not (builder.numbers.assumed or builder.is_guessed):
                return first
    return first or (check.not_run(), None)


def _judge(call: TargetCall, made: dict[int, str], works: Specs, specs: Specs) -> Verdict | Exception:
    """The verdict of one more way to call the target, or the error that decides nothing.

    A misfit does not count if an input was added whose shape no documentation states.
    """
    seen, error = _run(call, specs)
    if error is None:
        return Verdict(PASSED, "cpu", _fitting(seen))
    misfit = seen.misfit(error, _names(call, made))
    is_stated = all(specs[name].is_documented for name in specs.keys() - works.keys())
    if misfit is None or not is_stated or not _is_own(call, specs, misfit, seen.number, made):
        return error
    return _misfit_verdict(call, specs, misfit, seen, error, made)


def _run(call: TargetCall, specs: Specs) -> tuple[_Seen, Exception | None]:
    seed_generators(0)
    seen = _Seen()
    return seen, call.run(specs, "cpu", seen)


def _fitting(seen: _Seen) -> str:
    number = sum(_size_taken(layer) is not None for layer, _ in seen.done)
    return f"the call works, and {number} layers are given what they take" if number > 1 else "the call works"


def _names(call: TargetCall, made: dict[int, str]) -> dict[int, str]:
    """The layers of a model in words, with the places where they are made, by identity."""
    names = {}
    for name, layer in call.owner.named_modules() if isinstance(call.owner, nn.Module) else ():
        place = f", made at {made[id(layer)]}" if made.get(id(layer)) else ""
        names[id(layer)] = f"`{name}` (`{type(layer).__name__}`{place})"
    return names


def _misfit_verdict(
    call: TargetCall, specs: Specs, misfit: Misfit, seen: _Seen, error: Exception, made: dict[int, str]
) -> Verdict:
    """The verdict of a misfit, with the origin of both sizes."""
    call.note(specs)
    giver = seen.giver(misfit.given)
    comes = "" if giver is None else f" that {_names(call, made).get(id(giver), type(giver).__name__)} gives"
    detail = (
        f"{misfit.place}: {misfit.layer} takes {misfit.taken} features, not the {misfit.given}{comes}: "
        f"{described(error)[:160]}"
    )
    return Verdict(FAILED, "cpu", detail)


def _is_own(call: TargetCall, specs: Specs, misfit: Misfit, number: int, made: dict[int, str]) -> bool:
    """True if a misfit stays the same with any input size changed, or if an earlier operation refuses the change."""
    for other in resized(specs):
        seen, error = _run(call, other)
        if error is None:
            return False
        if seen.misfit(error, _names(call, made)) != misfit and seen.number >= number:
            return False
    return True


def _parameters(call: TargetCall) -> Iterator[nn.Parameter]:
    return call.owner.parameters() if isinstance(call.owner, nn.Module) else iter(())
