"""A model put through what a run can show, without a finding to start from: devices, lookups, lengths, recipes.

Each check answers like a probe: `confirmed` is a failure that was seen, `refuted` that none was, and `unconfirmed` that
the check could not be run, or that there is nothing to check.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from . import placement, recipes, roles
from .calls import lasting
from .checking import FAILED, LARGE, NOT_RUN, PASSED, TargetCall, TargetCheck, resized, too_many
from .forced import Forced
from .integers import is_made_by_code, is_outside, is_real
from .intervals import Intervals, ReadNumbers
from .labelled import asks_for_gpu, labelled
from .loading import Loading
from .lookups import SeenLookups
from .movement import mixes
from .operators import RULES
from .places import innermost
from .specs import TIME, is_small
from .standins import StandIn, described
from .tensors import storage_of, tensors_in
from .verdicts import NOTHING, PART, WHOLE, Verdict
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from modellint.claims import Claim

    from .checking import Specs
    from .ranges import RangeLookup
    from .session import Session
    from .specs import Spec

_TRIALS, _SEEDS = 12, 5
_SHOWN = 4
_TABLES = range(8, 4097)


def with_gpu(check: Callable[[Session, Claim], Verdict]) -> Callable[[Session, Claim], Verdict]:
    """A check that is made once more with a GPU that is not there, if the code does not do without one."""

    def checked(session: Session, claim: Claim) -> Verdict:
        try:
            outcome = check(session, claim)
        except Exception as error:
            if not asks_for_gpu(error):
                raise
            session.asks_for_gpu = True
        else:
            if outcome.status is not NOT_RUN or outcome.extent is not WHOLE or not session.asks_for_gpu:
                return outcome
        with labelled(is_strict=False):
            return check(session, claim)

    return checked


# -- devices ---------------------------------------------------------------------------------------------------------


def placement_check(session: Session, _: Claim) -> Verdict:
    """Whether a model that was moved runs where it was moved to.

    What tensors without data do not get through is run on the CPU, with tensors that say they are elsewhere.
    """
    outcome: Verdict | None = None
    if not session.asks_for_gpu:
        outcome = _placement(session, session.machine(), is_brief=True)
        if session.works_when_large:
            return _in_all_ways(session, outcome)
        session.asks_for_gpu = False  # what there was no way around is no wish of the code
        is_partial = outcome.status is PASSED and outcome.extent is PART
        if session.is_on_gpu:
            return outcome
        if outcome.extent is NOTHING or (outcome.status is not NOT_RUN and not is_partial):
            return outcome
    builder = session.builder
    with TargetCheck(session).small() as size:
        again = _placement(session, labelled()) if size <= LARGE else None
    is_more = again is not None and again.status is not NOT_RUN and again.extent is not PART
    if outcome is None or (again is not None and (is_more or outcome.status is NOT_RUN)):
        return again or Verdict(NOT_RUN, None, too_many(size))
    session.builder = builder
    return outcome


def _in_all_ways(session: Session, outcome: Verdict) -> Verdict:
    """The outcome of a large model of which one call works: all other ways to call it are those of a small one."""
    with TargetCheck(session).small() as size:
        small = _placement(session, session.machine()) if size <= LARGE else None
    if small is None or small.status is NOT_RUN:
        return _placement(session, session.machine())
    if small.status is FAILED:
        return small
    return replace(small, detail=f"{outcome.detail}; made small: {small.detail}")


def _placement(session: Session, machine: AbstractContextManager[Any], *, is_brief: bool = False) -> Verdict:
    """Whether calls work on a machine; with `is_brief`, a large model is called in one way."""
    check = TargetCheck(session)
    moved: str | None = None
    with machine:
        for variant in (0, roles.EQUAL):
            for call in check.calls(variant, placement.DEVICE):
                if isinstance(call.owner, nn.Module):
                    call.owner.to(placement.DEVICE)
                stayed = placement.left_behind(call.owner)
                for specs in check.specs(call):
                    outcome = _placed(call, stayed, specs)
                    if not isinstance(outcome, Exception):
                        if is_brief and call.size > LARGE:
                            session.works_when_large = outcome.status is PASSED
                            return outcome
                        return check.everywhere(call, specs, outcome, partial(_placed, call, stayed))
                    check.learn(call, outcome, specs)
                number = len(list(placement.tensors(call.owner)))
                if number and not stayed and moved is None:
                    moved = f"all {number} tensors move to {placement.DEVICE}, but no call got through: "
    outcome = check.not_run()
    return replace(outcome, detail=(moved or "") + outcome.detail)


class _Counted(TorchFunctionMode):
    """Counts what torch is asked for."""

    number = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.number += 1
        return func(*args, **(kwargs or {}))


def _placed(call: TargetCall, stayed: list[tuple[str, torch.Tensor]], specs: Specs) -> Verdict | Exception:
    """What one call on the device shows, or why it shows nothing."""
    counted = _Counted()
    error = call.run(specs, placement.DEVICE, counted)
    if error is not None and not mixes(error):
        return error
    call.note(specs)
    names = ", ".join(f"`{path}`" for path, _ in stayed[:_SHOWN]) + (" …" if len(stayed) > _SHOWN else "")
    if error is not None:
        left = f"after the move to {placement.DEVICE}, {names} stayed on `cpu`; " if stayed else ""
        return Verdict(FAILED, "fake", f"{left}the call raises {described(error)[:240]}")
    number = len(list(placement.tensors(call.owner)))
    if not number and not counted.number:
        return Verdict(NOT_RUN, None, "it holds no tensors, and computes nothing", NOTHING)
    left = f" but {names}, which the call can do with" if stayed else ""
    detail = f"{number} tensors move to {placement.DEVICE}{left}, and the call works there"
    return Verdict(PASSED, "fake", detail)


# -- lookups ---------------------------------------------------------------------------------------------------------


class _Everything(Watch):
    """Sees every lookup."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(None, [], tensors_in(given))

    def is_here(self, frame: object, weight: object) -> bool:
        return True


def values_check(session: Session, _: Claim) -> Verdict:
    """Whether ids that the model draws, or that it is declared to be given, can lack a row.

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
    """What the lookups of one call show, and whether that rests on assumed numbers.

    What fails in a model that was made small has to fail in the large one.
    """
    with check.small(variant) as size:
        outcome = None
        for call in check.calls(variant) if size <= LARGE else ():
            found = _observed(check, call, "cpu")
            if found.status is not NOT_RUN or found.extent is not WHOLE:
                outcome = found, bool(call.attempt.builder.numbers.assumed)
                break
        is_small = check.is_small
    if outcome is not None and not (is_small and outcome[0].status is FAILED):
        return outcome
    if size > LARGE or is_small:
        with placement.without_data():
            for call in check.calls(variant):
                return _observed(check, call, "fake"), bool(call.attempt.builder.numbers.assumed)
    return check.not_run(), False


def _observed(check: TargetCheck, call: TargetCall, device: str) -> Verdict:
    refused: tuple[Specs, str] | None = None
    for specs in check.specs(call):
        outcome = _followed(call, device, specs)
        if not isinstance(outcome, Exception):
            has_optional = device == "cpu"
            return check.everywhere(call, specs, outcome, partial(_followed, call, device), has_optional=has_optional)
        refused = refused or _refused(call, specs)
        check.learn(call, outcome, specs)
    if refused is None:
        return check.not_run()
    call.note(refused[0])
    return Verdict(FAILED, "cpu", refused[1])


def _followed(call: TargetCall, device: str, specs: Specs) -> Verdict | Exception:
    """What the lookups of one call show, or what keeps it from getting through.

    What fails has to fail with the least that can be passed, too: nothing says that what was made up is allowed.
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
    """One call whose lookups are followed, and what came of it."""

    def __init__(self, call: TargetCall, device: str, specs: Specs) -> None:
        self.device = device
        self.specs, self._intervals, self._given, self.error = _proven(call, specs)
        #: What fails.
        self.fact: str | None = None
        if self._intervals.failures and not self._intervals.were_read:
            self.fact = str(self._intervals.failures[0])
        elif device == "cpu" and (fact := _seen(call, self.specs)) is not None:
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


def _proven(call: TargetCall, specs: Specs) -> tuple[Specs, Intervals, dict[str, Any], Exception | None]:
    """One call with the ranges of its inputs: a number of ids counts for inputs that reach a table of that number."""
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
    """Whether an input looks up, as it is given, a table that has more rows where the number of its ids is larger."""
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


def _refused(call: TargetCall, specs: Specs) -> tuple[Specs, str] | None:
    """That real numbers are looked up, made by the model or documented as its input: no other call gets through."""
    watch, _ = _watched(call, specs)
    if not watch.is_not_ids:
        return None
    if watch.is_input:
        reals = (spec for spec in specs.values() if spec.kind == "float" or spec.is_made_up_real)
        is_meant = all(map(_is_said_to_be_real, reals))
    else:
        is_meant = is_made_by_code(specs, is_real, lambda integers: _watched(call, integers))
    return (specs, watch.fact) if is_meant else None


def _is_said_to_be_real(spec: Spec) -> bool:
    """Whether something says of an input that it is real, or how many features it has."""
    return spec.is_real or spec.has_width


def _seen(call: TargetCall, specs: Specs) -> str | None:
    """What real lookups raise, with the ids that come and with the largest that could be drawn."""
    for trial in range(_TRIALS):
        watch, _ = _watched(call, specs, trial)
        if is_outside(watch):
            is_meant = is_made_by_code(specs, is_outside, partial(_watched, call, trial=trial))
            return watch.fact if is_meant else None
        if not watch.seen:
            return None
    return None


def _watched(call: TargetCall, specs: Specs, trial: int = 0) -> tuple[Watch, Exception | None]:
    """One call with all its lookups in view; in each trial but the first, ids are drawn in another way."""
    torch.manual_seed(trial)
    given = {name: spec.make("cpu") for name, spec in specs.items()}
    watch = _Everything(given)
    modes = (Forced(trial - 1, None),) if trial else ()
    return watch, call.run(specs, "cpu", *modes, watch, given=given)


# -- lengths ---------------------------------------------------------------------------------------------------------


def boundaries_check(session: Session, _: Claim) -> Verdict:
    """Whether the shortest inputs get through, and those that fill a table."""
    check = TargetCheck(session)
    with check.small() as size:
        if size > LARGE:
            return Verdict(NOT_RUN, None, too_many(size))
        for variant in (0, roles.EQUAL):
            for call in check.calls(variant):
                for specs in check.specs(call):
                    outcome = _at_the_ends(call, specs)
                    if not isinstance(outcome, Exception):
                        return check.everywhere(call, specs, outcome, partial(_at_the_ends, call))
                    check.learn(call, outcome, specs)
        return check.not_run()


def _at_the_ends(call: TargetCall, specs: Specs) -> Verdict | Exception:
    """What comes of short sequences, and of those that fill a table.

    Where short ones fail, the shorter do so, too, as long as they are merely too short. A table need not be filled:
    its first row may stand for padding, unless something says that there are as many positions as rows.
    """
    error = call.run(specs, "cpu")
    if error is not None:
        return error
    if not any(TIME in spec.shape for spec in specs.values()):
        specs = next((other for other in _with_length(specs) if call.run(other, "cpu") is None), specs)
    call.note(specs)
    if not any(TIME in spec.shape for spec in specs.values()):
        return Verdict(NOT_RUN, None, "none of its inputs has a length", NOTHING)
    passed, limits = [TIME], dict[int, Exception]()
    full = _full(call)
    #: The lowest row that was looked up in the last call that works, by the number of rows.
    first: dict[int, int] = {}
    for length in dict.fromkeys((1, 2, *(size + step for size in full for step in (-1, 0, 1)))):
        if not all(is_small(replace(spec, shape=spec.sizes)) for spec in lasting(specs, length).values()):
            continue
        lookups = SeenLookups(None)
        error = call.run(lasting(specs, length), "cpu", lookups)
        if error is None:
            passed.append(length)
            first = {one.rows: one.low for one in lookups.found if not one.is_slice}
            continue
        limits[length] = error
        said = f"a length of {length} raises {described(error)[:200]}"
        if not isinstance(error, IndexError):
            continue
        is_guess = any(spec.is_guess for spec in specs.values())
        if length < TIME and min(passed) < length and not is_guess and _is_for_length(call, specs, length, min(passed)):
            return Verdict(FAILED, "cpu", f"{said}; one of {min(passed)} works")
        told = _told_lengths(call)
        is_promised = length in told and length - 1 not in told and not _has_padding(call, length)
        is_first = length in full and length - 1 in passed and first.get(length, 0) > 0
        if is_first and is_promised and not is_guess and _is_for_length(call, specs, length, length - 1):
            detail = f"{said}; one of {length - 1} works, and `{told[length]}` is {length}"
            return Verdict(FAILED, "cpu", detail)
    shown = ", ".join(map(str, sorted(passed)))
    detail = f"lengths {shown} work"
    if limits:
        length = min(limits)
        detail += f"; a length of {length} raises {described(limits[length])[:200]}"
    return Verdict(PASSED, "cpu", detail)


def _with_length(specs: Specs) -> Iterator[Specs]:
    """The same with a length in the place of each size of what may be sequences, wherever that size is."""
    sizes = [
        size for spec in specs.values() if spec.kind == "float" and len(spec.shape) == 3 for size in spec.shape[1:]
    ]
    for size in dict.fromkeys(sizes):
        yield {
            name: replace(spec, shape=(*spec.shape[:1], *(TIME if one == size else one for one in spec.shape[1:])))
            for name, spec in specs.items()
        }


def _is_for_length(call: TargetCall, specs: Specs, fails: int, works: int) -> bool:
    """Whether one length fails and another works with all numbers, so that it is not for ids that happened to come."""
    for seed in range(1, _SEEDS):
        torch.manual_seed(seed)
        if not isinstance(call.run(lasting(specs, fails), "cpu"), IndexError):
            return False
        if call.run(lasting(specs, works), "cpu") is not None:
            return False
    return True


def _full(call: TargetCall) -> list[int]:
    """The rows of each table that may hold positions: embeddings, buffers, and parameters that belong to no layer."""
    modules = list(call.owner.modules()) if isinstance(call.owner, nn.Module) else []
    rows = {part.num_embeddings for part in modules if isinstance(part, nn.Embedding)}
    for part in modules:
        is_layer = type(part).__module__.startswith("torch.nn.")
        tables = [*part._buffers.values(), *(() if is_layer else part._parameters.values())]
        rows |= {table.shape[-2] for table in tables if table is not None and table.dim() > 1}
    return [size for size in sorted(rows) if size in _TABLES][:_SHOWN]


def _told_lengths(call: TargetCall) -> dict[int, str]:
    """The numbers that the target, its arguments or its configuration call lengths, with what they call them."""
    return {number: name for name, number in call.inputs.named.numbers() if roles.is_length(name)}


def _has_padding(call: TargetCall, rows: int) -> bool:
    """Whether a row of a table with so many stands for padding."""
    parts = call.owner.modules() if isinstance(call.owner, nn.Module) else ()
    tables = [part for part in parts if isinstance(part, nn.Embedding) and part.num_embeddings == rows]
    return any(table.padding_idx is not None for table in tables)


# -- recipes ---------------------------------------------------------------------------------------------------------


def recipe_loading_check(session: Session, _: Claim) -> Verdict:
    """Whether HyperPyYAML loads a recipe and can make what it names."""
    session.begin("loading the recipe")
    shallow = Loading(session.target, session.overrides, session.stand_ins)
    if shallow.errors:
        return Verdict(FAILED, "cpu", f"loading the recipe {shallow.errors[0][1]}")
    session.begin("looking for what the recipe names")
    if (lacking := shallow.lacks()) is not None:
        return Verdict(FAILED, "cpu", f"loading the recipe {lacking}")
    number = len(shallow.objects)
    return Verdict(PASSED, "cpu", f"HyperPyYAML loads its {number} keys")


def recipe_placement_check(session: Session, _: Claim) -> Verdict:
    """Which layers stay behind that objects in `modules` hold, and which none of them holds."""
    with session.machine():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build(None)
        modules = objects.get(recipes.MODULES)
        if not modules:
            number = len({id(tensor) for value in objects.values() for _, tensor in placement.state(value)})
            detail = f"the recipe has no `modules`; {number} parameters and buffers are built"
            return Verdict(NOT_RUN, None, detail, NOTHING)
        session.begin("moving `modules`")
        recipes.place(objects, placement.DEVICE)
        stayed = [path for path, tensor in placement.state(modules, "modules") if tensor.device.type == "cpu"]
        if stayed:
            names = ", ".join(f"`{path}`" for path in stayed[:_SHOWN]) + (" …" if len(stayed) > _SHOWN else "")
            detail = f"after `modules` moved to {placement.DEVICE}, {names} stayed on `cpu`"
            return Verdict(FAILED, "fake", detail)
        number = len(list(placement.state(modules)))
        unbuilt = [part for part in placement.below(modules) if isinstance(part, recipes.Unbuilt | StandIn)]
        if unbuilt:
            first = unbuilt[0]
            name = first.name if isinstance(first, recipes.Unbuilt) else type(first).__qualname__
            reason = f"`{name}` could not be built: {recipe.reason(first)}"
            if not number:
                return Verdict(NOT_RUN, None, reason)
            detail = f"{number} parameters and buffers below `modules` move to {placement.DEVICE}, but {reason}"
            return Verdict(PASSED, "fake", detail, PART)
        others = [
            key
            for key, value in objects.items()
            if key != recipes.MODULES and any(t.device.type == "cpu" for _, t in placement.state(value))
        ]
        left = f"; outside of `modules`, and on `cpu`: {', '.join(f'`{key}`' for key in others)}" if others else ""
        detail = f"the {number} parameters and buffers below `modules` move to {placement.DEVICE}{left}"
        return Verdict(PASSED, "fake", detail)
