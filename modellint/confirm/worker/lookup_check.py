"""The check of ids: all look-ups of a model's calls, with ids that it draws or takes as inputs."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from . import placement, roles
from .calls import lasting
from .checking import FAILED, LARGE, NOT_RUN, PASSED, TargetCall, TargetCheck, resized
from .forced import Forced
from .integers import is_made_by_code, is_outside, is_real
from .intervals import Intervals, ReadNumbers
from .operators import RULES
from .places import innermost
from .seeds import seed_generators
from .specs import TIME
from .tensors import storage_of, tensors_in
from .verdicts import NOTHING, PART, WHOLE, Verdict
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims import Claim

    from .checking import Specs
    from .ranges import RangeLookup
    from .session import Session
    from .specs import Spec

_TRIALS = 12


class _Everything(Watch):
    """Watches every look-up."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(None, [], tensors_in(given))

    def is_here(self, frame: object, weight: object) -> bool:
        return True


def values_check(session: Session, _: Claim) -> Verdict:
    """The check that ids which the model draws, or takes by declaration, stay within their tables.

    A failure that rests on assumed numbers must be seen with several choices of them.
    """
    first: Verdict | None = None
    builder = None
    for variant in roles.VARIANTS:
        check = TargetCheck(session)
        outcome, is_assumed = _looked_up(check, variant)
        if first is None:
            first, builder = outcome, session.builder
        if first.status is not FAILED or not is_assumed:
            break
        if outcome.status is not FAILED:
            detail = f"it depends on numbers that were assumed: {first.detail}"
            first = Verdict(NOT_RUN, None, detail)
            break
    assert first is not None
    session.builder = builder
    return first


def _looked_up(check: TargetCheck, variant: int) -> tuple[Verdict, bool]:
    """The verdict of the look-ups of one call, and whether it rests on assumed numbers.

    A failure of a model that was made small counts only if the large one fails, too.
    """
    with check.small(variant) as size:
        outcome = None
        for call in check.calls(variant) if size <= LARGE else ():
            found = _verdict_of_calls(check, call, "cpu")
            if found.status is not NOT_RUN or found.extent is NOTHING:
                outcome = found, bool(call.attempt.builder.numbers.assumed)
                break
        is_small = check.is_small
    if outcome is not None and not (is_small and outcome[0].status is FAILED):
        return outcome
    if size > LARGE or is_small:
        with placement.without_data():
            for call in check.calls(variant):
                return _verdict_of_calls(check, call, "fake"), bool(call.attempt.builder.numbers.assumed)
    return check.not_run(), False


def _verdict_of_calls(check: TargetCheck, call: TargetCall, device: str) -> Verdict:
    refused: tuple[Specs, str] | None = None
    for specs in check.specs(call):
        outcome = _verdict_of_call(call, device, specs)
        if not isinstance(outcome, Exception):
            has_optional = device == "cpu"
            return check.everywhere(
                call, specs, outcome, partial(_verdict_of_call, call, device), has_optional=has_optional
            )
        refused = refused or _real_index(call, specs)
        check.learn(call, outcome, specs)
    if refused is None:
        return check.not_run()
    call.note(refused[0])
    return Verdict(FAILED, "cpu", refused[1])


def _verdict_of_call(call: TargetCall, device: str, specs: Specs) -> Verdict | Exception:
    """The verdict of the look-ups of one call, or the error that ends it.

    A failure must also occur with the simplest inputs: nothing says that made-up inputs are allowed.
    """
    run = _FollowedCall(call, device, specs)
    for simpler in _simpler(call, specs) if run.fact else ():
        other = _FollowedCall(call, device, simpler)
        if not other.fact and other.error is None:
            run = other
            break
    if run.fact is None and run.error is not None:
        return run.error
    call.note(run.specs)
    if run.fact is not None and any(spec.is_guess for spec in specs.values()):
        return TypeError(f"nothing says what is passed so: {run.fact}")
    if run.fact is not None:
        return Verdict(FAILED, run.device, run.fact)
    return replace(run.harmless(), device=device)


def _simpler(call: TargetCall, specs: Specs) -> Iterator[Specs]:
    """The same with the least ids and numbers, and with shorter sequences, where these were made up."""
    least = dict(specs)
    for name, spec in specs.items():
        if spec.kind == "ids":
            least[name] = replace(spec, largest=0)
        elif type(spec.value) is int and not call.inputs.is_said(name):
            least[name] = replace(spec, value=0)
    yield from (lasting(least, length) for length in (TIME, 2, 1))
    yield {**least, **{name: replace(spec, value=1) for name, spec in least.items() if type(spec.value) is int}}
    yield from resized(specs, by=0)


class _FollowedCall:
    """One call whose look-ups are followed, and its outcome."""

    def __init__(self, call: TargetCall, device: str, specs: Specs) -> None:
        self.device = device
        self.specs, self._intervals, self._given, self.error = _run_with_declared_ranges(call, specs)
        #: The failure, in words; None if no look-up fails.
        self.fact: str | None = None
        if self._intervals.failures and not self._intervals.were_read:
            self.fact = str(self._intervals.failures[0])
        elif device == "cpu" and (fact := _seen_failure(call, self.specs)) is not None:
            self.device, self.fact = "cpu", fact

    def harmless(self) -> Verdict:
        """The verdict that no lookup fails, and how many of them were seen."""
        given = set(map(storage_of, tensors_in(self._given)))
        known = self._intervals.lookups
        computed = [place for place, storage in self._intervals.unknown if storage not in given]
        if not known and not self._intervals.unknown:
            return Verdict(NOT_RUN, None, "the call works, and looks nothing up", NOTHING)
        if not known and computed:
            detail = f"the call works; not known are the ids in `{computed[0]}`"
            return Verdict(PASSED, None, detail, PART)
        if not known:
            detail = "the call works, and looks nothing up but what it is given, of which nothing says the range"
            return Verdict(NOT_RUN, None, detail, NOTHING)
        widest = max(known, key=lambda lookup: lookup.ids.high / max(1, lookup.rows))
        number = f"{len(known)} lookups have rows for all ids" if len(known) > 1 else "the lookup has rows for all ids"
        detail = f"{number}: {widest}"
        if computed:
            detail += f"; not known are the ids in `{computed[0]}`"
        return Verdict(PASSED, None, detail, PART if computed else WHOLE)


def _run_with_declared_ranges(
    call: TargetCall, specs: Specs
) -> tuple[Specs, Intervals, dict[str, Any], Exception | None]:
    """One call with the ranges of its inputs; a declared number of ids counts only for a table of as many rows."""
    while True:
        given = {name: spec.make("cpu") for name, spec in specs.items()}
        intervals, error = _with_ranges(call, specs, given)
        doubtful = [
            name
            for name, spec in specs.items()
            if spec.declared is not None
            and spec.counted
            and any(lookup.ids.origin == spec.declared[2] for lookup in intervals.failures)
            and not _is_sized_by(call, specs, name, intervals.lookups)
        ]
        if not doubtful:
            return specs, intervals, given, error
        specs = {**specs, **{name: replace(specs[name], declared=None) for name in doubtful}}


def _with_ranges(call: TargetCall, specs: Specs, given: dict[str, Any]) -> tuple[Intervals, Exception | None]:
    intervals = Intervals(RULES)
    intervals.where = lambda: innermost(inspect.currentframe())
    for name, spec in specs.items():
        if spec.declared is not None:
            intervals.declare(given[name], *spec.declared)
    return intervals, call.run(specs, "cpu", intervals, ReadNumbers(intervals), given=given)


def _is_sized_by(call: TargetCall, specs: Specs, name: str, lookups: list[RangeLookup]) -> bool:
    """True if an input indexes, unchanged, a table that has more rows where the input's number of ids is larger."""
    more, spec = 7, specs[name]
    assert spec.declared is not None
    reached = {one.operator: one.rows for one in lookups if _is_given(one, spec.declared)}
    larger = call.enlarged(spec.counted, more) if reached else None
    if larger is None:
        return False
    given = {name: spec.make("cpu") for name, spec in specs.items()}
    again, _ = _with_ranges(larger, specs, given)
    return any(
        one.rows == reached.get(one.operator, 0) + more and _is_given(one, spec.declared) for one in again.lookups
    )


def _is_given(lookup: RangeLookup, declared: tuple[int, int, str]) -> bool:
    return (lookup.ids.low, lookup.ids.high, lookup.ids.origin) == declared


def _real_index(call: TargetCall, specs: Specs) -> tuple[Specs, str] | None:
    """The inputs and the fact if real numbers are used as an index, made by the model or documented as its input."""
    watch, _ = _run_watched(call, specs)
    if not watch.is_not_ids:
        return None
    if watch.is_input:
        reals = (spec for spec in specs.values() if spec.kind == "float" or spec.is_made_up_real)
        is_meant = all(map(_is_said_to_be_real, reals))
    else:
        is_meant = is_made_by_code(specs, is_real, lambda integers: _run_watched(call, integers))
    return (specs, watch.fact) if is_meant else None


def _is_said_to_be_real(spec: Spec) -> bool:
    """True if an input is said to be real, or to have a number of features."""
    return spec.is_real or spec.has_width


def _seen_failure(call: TargetCall, specs: Specs) -> str | None:
    """The error of a real look-up, with ids that occur or with the largest that could be drawn; None if none fails."""
    for trial in range(_TRIALS):
        watch, _ = _run_watched(call, specs, trial)
        if is_outside(watch):
            is_meant = is_made_by_code(specs, is_outside, partial(_run_watched, call, trial=trial))
            return watch.fact if is_meant else None
        if not watch.seen:
            return None
    return None


def _run_watched(call: TargetCall, specs: Specs, trial: int = 0) -> tuple[Watch, Exception | None]:
    """One call that watches all its look-ups; in each trial but the first, other ids are drawn."""
    seed_generators(trial)
    given = {name: spec.make("cpu") for name, spec in specs.items()}
    watch = _Everything(given)
    modes = (Forced(trial - 1, None),) if trial else ()
    return watch, call.run(specs, "cpu", *modes, watch, given=given)
