"""A target put to a check: ways to build it and to call it, in both modes, and with each optional input in turn.

A check has no finding to start from. It answers like a probe: `confirmed` is a failure that was seen, `refuted` that
none was, and `unconfirmed` that the check could not be run, or that there is nothing to check.
"""

from __future__ import annotations

import contextlib
import copy
import dis
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from . import placement
from .calls import lasting
from .causes import UncallableError, cause_of
from .inputs import Inputs
from .labelled import asks_for_gpu
from .scaling import scales
from .specs import BATCH, TIME, Spec
from .standins import StandIn, described
from .tensors import moved
from .verdicts import CONFIRMED, NEVER, NOTHING, PART, REFUTED, UNCONFIRMED, WHOLE, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .attempts import Attempt
    from .classes import Builder
    from .scaling import Scale
    from .session import Session

    Judge = Callable[[dict[str, Spec]], Verdict | Exception]

#: The statuses of a check, as a claim that something fails.
FAILED, PASSED, NOT_RUN = CONFIRMED, REFUTED, UNCONFIRMED
#: Seconds of processor time after which no further way to call a model is tried.
_PATIENCE = 25.0
#: The same, once such a search was in vain.
_LITTLE = 5.0
#: More parameters than this are not made with numbers in them.
LARGE = 50_000_000
#: More than this are not made where a smaller model of its kind will do.
_HANDY = 20_000_000
#: So many optional inputs are tried.
_MOST_OPTIONAL = 12
#: After so many kinds of one, complaints about shapes tell which are tried next.
_LEARNING = 4
_SHOWN = 4
#: Characters of a reason.
_LONGEST = 300

Specs = dict[str, Spec]


class TargetCall:
    """An object of the target with the method to call, and whatever is known of its inputs."""

    def __init__(self, attempt: Attempt, method: str) -> None:
        self.attempt = attempt
        self.owner = attempt.build()
        self.method = method
        function = getattr(self.owner, method, None) if method else self.owner
        if function is None or getattr(function, "__func__", None) is nn.Module.forward:
            raise UncallableError(f"`{type(self.owner).__name__}` has no `{method}`, so that there is no call of it")
        self.function: Callable[..., Any] = function
        self.inputs = Inputs(self.function, self.owner, attempt)
        #: The result of the last call.
        self.result: Any = None
        self.train(False)

    @property
    def has_modes(self) -> bool:
        """True for a module, whose training mode can differ from its evaluation mode."""
        return isinstance(self.owner, nn.Module)

    @property
    def size(self) -> int:
        """The number of elements in its parameters."""
        parameters = self.owner.parameters() if isinstance(self.owner, nn.Module) else ()
        return sum(one.numel() for one in parameters if not nn.parameter.is_lazy(one))

    def train(self, is_training: bool) -> None:
        if isinstance(self.owner, nn.Module):
            self.owner.train(is_training)

    def run(
        self,
        specs: Specs,
        device: str,
        *modes: Any,
        given: dict[str, Any] | None = None,
        has_gradients: bool = False,
    ) -> Exception | None:
        """The error that one call raises; None if it works."""
        arguments = given or arguments_of(specs, device)
        self.result = None
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.set_grad_enabled(has_gradients))
            for mode in modes:
                stack.enter_context(mode)
            try:
                self.result = self.function(**arguments)
            except Exception as error:
                return error
        return None

    def note(self, specs: Specs) -> None:
        """Add to the assumptions the inputs with which a fact was observed."""
        self.attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})

    def refuses(self, error: Exception) -> bool:
        """True if code of the target's own package raised the error, by `raise` or `assert`."""
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        if last is None:
            return False
        code, raised_in = last.tb_frame.f_code, str(last.tb_frame.f_globals.get("__name__", ""))
        kinds = type(self.owner).__mro__ if isinstance(self.owner, nn.Module) else (self.function,)
        own = {str(getattr(kind, "__module__", "")).partition(".")[0] for kind in kinds} - {"torch", "builtins"}
        return raised_in.partition(".")[0] in own and dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS"

    def enlarged(self, key: str, more: int) -> TargetCall | None:
        """The same target, built with the number called `key` increased by `more`.

        None if no argument of the constructor has that number.
        """
        known = self.inputs.named.states(key)
        given = self.attempt.builder.arguments.get(id(self.owner), {})
        if known is None:
            return None
        fixed = {key: known + more} if key in self.inputs.of_constructor else {}
        for name, value in () if fixed else given.items():
            larger = _with_number(value, key, known + more)
            if larger is not None:
                fixed = {name: larger}
                break
        if not fixed:
            return None
        with contextlib.suppress(Exception):
            return TargetCall(self.attempt.again(fixed), self.method)
        return None


def _with_number(settings: Any, key: str, number: int) -> Any:
    """The settings with another number under `key`; None if they have no such key."""
    if isinstance(settings, dict):
        return {**settings, key: number} if key in settings else None
    if key not in getattr(settings, "__dict__", {}):
        return None
    with contextlib.suppress(Exception):
        changed = copy.copy(settings)
        setattr(changed, key, number)
        return changed
    return None


def too_many(size: int) -> str:
    """The reason why a model with so many parameters is not run."""
    return f"{size / 1e6:.0f} million parameters are too many to run on real numbers"


def arguments_of(specs: Specs, device: str) -> dict[str, Any]:
    """Arguments with all tensors on a device."""
    return {name: moved(spec.make(device), device) for name, spec in specs.items()}


def resized(specs: Specs, *, by: int = 8) -> Iterator[Specs]:
    """The same inputs with each of their sizes changed in turn: lengths, batches, and all others by themselves.

    Lengths and batches get a little longer; what else there is becomes so much larger, or 1 for `by=0`.
    """
    yield lasting(specs, TIME + 2)
    yield {name: replace(spec, shape=_with_larger_batch(spec.shape)) for name, spec in specs.items()}
    for name, spec in specs.items():
        for at, size in enumerate(spec.shape):
            if size not in (TIME, BATCH):
                shape = (*spec.shape[:at], size + by if by else 1, *spec.shape[at + 1 :])
                yield {**specs, name: replace(spec, shape=shape)}
        if type(spec.value) is int:
            yield {**specs, name: replace(spec, value=spec.value + 1)}


def _with_larger_batch(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with a batch that is larger by one."""
    return tuple(BATCH + 1 if size == BATCH else size for size in shape)


@dataclass(frozen=True)
class _Reason:
    """Why building or calling ended, and the builder; `is_lasting` if no other arguments would help."""

    said: str
    builder: Builder
    is_lasting: bool


class TargetCheck:
    """One check of a class or function."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.owner, self._method = session.source().split(session.name)
        self._end = time.process_time() + (_LITTLE if session.was_in_vain else _PATIENCE)
        self._reasons: list[_Reason] = []

    def calls(self, variant: int = 0, device: str = "cpu") -> Iterator[TargetCall]:
        """The target built in each way, with its own defaults: other values were not asked about."""
        for attempt in self._session.attempts(self.owner, variant=variant, device=device, keeps_defaults=True):
            try:
                call = TargetCall(attempt, self._method)
            except Exception as error:
                self._note(attempt, "building", error)
                continue
            self._session.begin(f"calling `{self.owner}`")
            yield call

    def size(self, variant: int = 0) -> int:
        """The number of elements in the parameters of the target, counted without data."""
        with placement.without_data(), contextlib.suppress(Exception):
            for call in self.calls(variant):
                self._reasons.clear()
                return call.size
        self._reasons.clear()
        return 0

    def _scales(self, builder: Builder) -> Iterator[Scale]:
        """Ways to make the target small: by its defaults, or else by what its code passes to configurations."""
        yield from scales(builder.defaults)
        if builder.passed:
            yield from (replace(scale, reaches_code=True) for scale in scales(builder.passed))

    @contextlib.contextmanager
    def small(self, variant: int = 0) -> Iterator[int]:
        """Build a large model smaller inside the block, by a scale that suffices; gives its number of elements."""
        size = self.size(variant)
        builder, chosen = self._session.builder, None
        limit = min(size, LARGE)
        for scale in self._scales(builder) if size > _HANDY and builder is not None else ():
            self._session.scale = scale
            if 0 < (smaller := self.size(variant)) <= limit:
                size = limit = smaller
                chosen = scale
            if size <= _HANDY:
                break
        self._session.scale = chosen
        try:
            yield size
        finally:
            self._session.scale = None

    @property
    def is_small(self) -> bool:
        """True if the target is built smaller than by its defaults."""
        return self._session.scale is not None

    @property
    def is_late(self) -> bool:
        """True if the check has used up its processor time."""
        return time.process_time() > self._end

    def specs(self, call: TargetCall) -> Iterator[Specs]:
        """Inputs to call it with, until the time is up."""
        for specs in call.inputs.combinations():
            if self.is_late:
                return
            yield specs

    def learn(self, call: TargetCall, error: Exception, specs: Specs) -> None:
        self._note(call.attempt, "calling", error)
        call.inputs.learn(error, specs)

    def _note(self, attempt: Attempt, doing: str, error: Exception) -> None:
        """Note why building or calling the target ended."""
        self._session.asks_for_gpu |= asks_for_gpu(error)
        cause = cause_of(error, f"{doing} `{self.owner}`", self._session.stand_ins.names)
        is_lasting = cause is not None or (doing == "building" and attempt.takes_nothing)
        said = cause or f"{doing} `{self.owner}`: {described(error)}"
        self._reasons.append(_Reason(said[:_LONGEST], attempt.builder, is_lasting))

    def not_run(self) -> Verdict:
        """The verdict "not run" with its reason; a reason that no arguments can help comes first."""
        self._session.was_in_vain |= self.is_late
        reason = next((one for one in self._reasons if one.is_lasting), next(iter(self._reasons), None))
        if reason is None:
            return Verdict(NOT_RUN, None, "no way to call it was found")
        self._session.builder = None if reason.is_lasting else reason.builder
        if reason.is_lasting:
            return Verdict(NOT_RUN, None, reason.said, NEVER)
        if not reason.builder.needed or not reason.said.startswith("building"):
            return Verdict(NOT_RUN, None, reason.said)
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(reason.builder.needed))
        return Verdict(NOT_RUN, None, f"{reason.said}; say in the settings what to pass as {names}")

    # -- both modes, and optional inputs -------------------------------------------------------------------------------

    def everywhere(
        self, call: TargetCall, specs: Specs, first: Verdict, judge: Judge, *, has_optional: bool = True
    ) -> Verdict:
        """The combined verdict of calls in both modes and with optional inputs, after `first` of a call in evaluation.

        `judge` gives the verdict of one call, or the error that prevents one. The first failure is the verdict; if a
        call cannot be made, the verdict is one in part.
        """
        if first.status is not PASSED and first.extent is not NOTHING:
            return first
        found, missed = [("", first)], list[str]()
        optional = dict(list(call.inputs.optional(specs).items())[:_MOST_OPTIONAL])
        if optional and not has_optional:
            missed.append(f"with {_listing([f'`{name}`' for name in optional])}: it is too large")
            optional.clear()
        for says, outcome in self._ways(call, specs, judge, optional):
            if isinstance(outcome, Exception):
                missed.append(f"{says}: {described(outcome)[:160]}")
            elif outcome.status is FAILED:
                return replace(outcome, detail=f"{says}: {outcome.detail}")
            else:
                found.append((says, outcome))
        return self.as_far_as_built(call, _combined_verdict(found, missed))

    def verdict_of(self, call: TargetCall, judge: Judge) -> Verdict | None:
        """The combined verdict of all ways to call the target with the first inputs that work; None if none work."""
        for specs in self.specs(call):
            outcome = judge(specs)
            if not isinstance(outcome, Exception):
                return self.everywhere(call, specs, outcome, judge)
            self.learn(call, outcome, specs)
        return None

    def nothing(self, call: TargetCall, reason: str) -> Verdict:
        """The verdict that there is nothing to check."""
        return self.as_far_as_built(call, Verdict(NOT_RUN, None, reason, NOTHING))

    def as_far_as_built(self, call: TargetCall, outcome: Verdict) -> Verdict:
        """The verdict, with a note on stand-ins in the object that was built or in the result of a call."""
        seen = placement.below((call.owner, call.result))
        lacking = next((part for part in seen if isinstance(part, StandIn)), None)
        if lacking is None:
            return outcome
        detail = f"{outcome.detail}; `{type(lacking).__qualname__}` was not built, and has no part in it"
        return replace(outcome, detail=detail, extent=PART if outcome.status is PASSED else WHOLE)

    def _ways(
        self, call: TargetCall, specs: Specs, judge: Judge, optional: dict[str, list[Spec]]
    ) -> Iterator[tuple[str, Verdict | Exception]]:
        """The verdict or error of each other call: in training, and with each optional input, labelled in words.

        Calls of large models take seconds: optional inputs are passed to them in training only.
        """
        for is_training in (False, True) if call.has_modes else (False,):
            mode = "in training" if is_training else ""
            try:
                call.train(is_training)
            except Exception as error:
                yield mode, error
                break
            if is_training:
                yield mode, self._judge(judge, specs)
            for name, kinds in optional.items() if is_training or call.size <= LARGE or not call.has_modes else ():
                outcome = self._with_optional(call, specs, name, kinds, judge)
                if not (isinstance(outcome, Exception) and call.refuses(outcome)):
                    yield f"{mode} with `{name}`".lstrip(), outcome
        call.train(False)

    def _with_optional(
        self, call: TargetCall, specs: Specs, name: str, kinds: list[Spec], judge: Judge
    ) -> Verdict | Exception:
        """The verdict of a call with one more input; the kind of input that works is moved to the front of `kinds`."""
        first: Exception | None = None
        for number, more in enumerate(call.inputs.with_more(specs, name, [*kinds])):
            outcome = self._judge(judge, more)
            if not isinstance(outcome, Exception):
                kinds.insert(0, more[name])
                return outcome
            first = first or outcome
            if self.is_late or call.refuses(outcome):
                break
            if number + 1 >= min(len(kinds), _LEARNING):
                call.inputs.learn(outcome, more)
        return first or TypeError("nothing says what to pass")

    def _judge(self, judge: Judge, specs: Specs) -> Verdict | Exception:
        return TimeoutError("no time was left") if self.is_late else judge(specs)


def _combined_verdict(found: list[tuple[str, Verdict]], missed: list[str]) -> Verdict:
    """The verdict of several calls, each labelled in words, of which none fails."""
    checked = [one for one in found if one[1].extent is not NOTHING]
    says, outcome = (checked or found)[0]
    parts = [f"{says}: {outcome.detail}" if says else outcome.detail]
    if checked[1:]:
        parts.append(f"likewise {_listing([says for says, _ in checked[1:]])}")
    if missed:
        parts.append(f"not {'; not '.join(missed[:2])}" + (f"; and {len(missed) - 2} more" if missed[2:] else ""))
    is_partial = checked and (missed or any(one.extent is PART for _, one in checked))
    return replace(outcome, detail="; ".join(parts), extent=PART if is_partial else outcome.extent)


def _listing(words: list[str]) -> str:
    return ", ".join(words[:_SHOWN]) + (f" and {len(words) - _SHOWN} more" if words[_SHOWN:] else "")
