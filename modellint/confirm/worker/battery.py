"""A model put through what a run can show, without a finding to start from: devices, lookups, lengths, recipes.

Each check answers like a probe: `confirmed` is a failure that was seen, `refuted` that none was, and `unconfirmed` that
the check could not be run.
"""

from __future__ import annotations

import contextlib
import inspect
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from . import placement, recipes, roles
from .forced import Forced
from .inputs import BATCH, TIME, Inputs, Spec
from .integers import is_made_by_code, is_outside, is_real
from .intervals import Intervals, ReadNumbers
from .labelled import asks_for_gpu, labelled
from .loading import Loading
from .movement import mixes
from .places import innermost
from .scaling import scales
from .standins import described
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from modellint.claims import Claim

    from .classes import Attempt
    from .session import Session

FAILED, PASSED, NOT_RUN = "confirmed", "refuted", "unconfirmed"
#: Seconds after which no further way to call a model is tried.
_PATIENCE = 25.0
#: Parameters beyond which a model is not run for real, and those beyond which a smaller one of its kind is.
_LARGE, _HANDY = 50_000_000, 20_000_000
_TRIALS = 12
_SHOWN = 4
_TABLES = range(8, 4097)

Outcome = dict[str, Any]
Specs = dict[str, Spec]


class _Call:
    """An object of the target with the method to call, and whatever is known of its inputs."""

    def __init__(self, attempt: Attempt, method: str) -> None:
        self.attempt = attempt
        self.owner = attempt.build()
        if isinstance(self.owner, nn.Module):
            self.owner.eval()
        self.function = getattr(self.owner, method) if method else self.owner
        self.inputs = Inputs(self.function, self.owner, attempt)

    @property
    def size(self) -> int:
        """How many numbers there are in its parameters."""
        return sum(p.numel() for p in self.owner.parameters()) if isinstance(self.owner, nn.Module) else 0

    def run(self, specs: Specs, device: str, *modes: Any, given: dict[str, Any] | None = None) -> Exception | None:
        """What one call raises."""
        arguments = given or arguments_of(specs, device)
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            for mode in modes:
                stack.enter_context(mode)
            try:
                self.function(**arguments)
            except Exception as error:
                return error
        return None

    def note(self, specs: Specs) -> None:
        """Say with which inputs a fact was observed."""
        self.attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})


def arguments_of(specs: Specs, device: str) -> dict[str, Any]:
    """Arguments with all tensors on a device."""

    def moved(value: Any) -> Any:
        return value.to(device) if isinstance(value, torch.Tensor) else value

    return {name: tree_map(moved, spec.make(device)) for name, spec in specs.items()}


def with_gpu(check: Callable[[Session, Claim], Outcome]) -> Callable[[Session, Claim], Outcome]:
    """A check that is made once more with a GPU that is not there, if the code does not do without one."""

    def checked(session: Session, claim: Claim) -> Outcome:
        try:
            outcome = check(session, claim)
        except Exception as error:
            if not asks_for_gpu(error):
                raise
            session.asks_for_gpu = True
        else:
            if outcome["status"] != NOT_RUN or not session.asks_for_gpu:
                return outcome
        with labelled(is_strict=False):
            return check(session, claim)

    return checked


class _Check:
    """One check of a class or function."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._owner, self._method = session.source().split(session.name)
        self._end = time.monotonic() + _PATIENCE
        self._reasons: list[str] = []

    def calls(self, variant: int = 0, device: str = "cpu") -> Iterator[_Call]:
        """Ways to build the target."""
        for attempt in self._session.attempts(self._owner, variant=variant, device=device):
            try:
                call = _Call(attempt, self._method)
            except Exception as error:
                self._session.asks_for_gpu |= asks_for_gpu(error)
                self._reasons.append(f"building `{self._owner}`: {described(error)}")
                continue
            self._session.begin(f"calling `{self._owner}`")
            yield call

    def size(self, variant: int = 0) -> int:
        """How many numbers there are in the parameters of the target, counted without making them."""
        with placement.without_data(), contextlib.suppress(Exception):
            for call in self.calls(variant):
                self._reasons.clear()
                return call.size
        self._reasons.clear()
        return 0

    @contextlib.contextmanager
    def small(self) -> Iterator[int]:
        """Build a model that is large for real numbers with fewer of them meanwhile; gives how many it has then."""
        size = self.size()
        builder = self._session.builder
        for scale in scales(builder.defaults) if size > _HANDY and builder is not None else ():
            self._session.scale = scale
            if 0 < (smaller := self.size()) <= min(size, _LARGE):
                size = smaller
                break
        else:
            self._session.scale = None
        try:
            yield size
        finally:
            self._session.scale = None

    def specs(self, call: _Call) -> Iterator[Specs]:
        """Inputs to call it with, until the time is up."""
        for specs in call.inputs.combinations():
            if time.monotonic() > self._end:
                return
            yield specs

    def learn(self, call: _Call, error: Exception, specs: Specs) -> None:
        self._session.asks_for_gpu |= asks_for_gpu(error)
        self._reasons.append(f"calling `{self._owner}`: {described(error)[:200]}")
        call.inputs.learn(error, specs)

    def not_run(self) -> Outcome:
        detail = self._reasons[0] if self._reasons else "no way to call it was found"
        builder = self._session.builder
        if builder is not None and builder.needed and detail.startswith("building"):
            names = ", ".join(f"`{name}`" for name in dict.fromkeys(builder.needed))
            detail += f"; say in the settings what to pass as {names}"
        return {"status": NOT_RUN, "detail": detail}


# -- devices ---------------------------------------------------------------------------------------------------------


def placement_check(session: Session, _: Claim) -> Outcome:
    """Whether a model that was moved runs where it was moved to.

    What tensors without data do not get through is run on the CPU, with tensors that say they are elsewhere.
    """
    outcome: Outcome | None = None
    if not session.asks_for_gpu:
        outcome = _placement(session, session.machine())
        session.asks_for_gpu = False  # what there was no way around is no wish of the code
        if outcome["status"] != NOT_RUN or session.is_on_gpu:
            return outcome
    with _Check(session).small() as size:
        if size > _LARGE:
            return outcome or {"status": NOT_RUN, "detail": too_many(size)}
        return _placement(session, labelled())


def _placement(session: Session, machine: AbstractContextManager[Any]) -> Outcome:
    check = _Check(session)
    moved: str | None = None
    with machine:
        for variant in (0, roles.EQUAL):
            for call in check.calls(variant, placement.DEVICE):
                if isinstance(call.owner, nn.Module):
                    call.owner.to(placement.DEVICE)
                stayed = placement.left_behind(call.owner)
                for specs in check.specs(call):
                    error = call.run(specs, placement.DEVICE)
                    if error is not None and not mixes(error):
                        check.learn(call, error, specs)
                        continue
                    call.note(specs)
                    return _placed(call, stayed, error)
                number = len(list(placement.tensors(call.owner)))
                if number and not stayed and moved is None:
                    moved = f"all {number} tensors move to {placement.DEVICE}, but no call got through: "
    outcome = check.not_run()
    return {**outcome, "detail": (moved or "") + outcome["detail"]}


def _placed(call: _Call, stayed: list[tuple[str, torch.Tensor]], error: Exception | None) -> Outcome:
    names = ", ".join(f"`{path}`" for path, _ in stayed[:_SHOWN]) + (" …" if len(stayed) > _SHOWN else "")
    if error is not None:
        left = f"after the move to {placement.DEVICE}, {names} stayed on `cpu`; " if stayed else ""
        return {"status": FAILED, "device": "fake", "detail": f"{left}the call raises {described(error)[:240]}"}
    number = len(list(placement.tensors(call.owner)))
    left = f" but {names}, which the call can do with" if stayed else ""
    detail = f"{number} tensors move to {placement.DEVICE}{left}, and the call works there"
    return {"status": PASSED, "device": "fake", "detail": detail}


def too_many(size: int) -> str:
    return f"{size / 1e6:.0f} million parameters are too many to run on real numbers"


# -- lookups ---------------------------------------------------------------------------------------------------------


class _Everything(Watch):
    """Sees every lookup."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(None, [], [part for part in tree_leaves(given) if isinstance(part, torch.Tensor)])

    def is_here(self, frame: object, weight: object) -> bool:
        return True


def values_check(session: Session, _: Claim) -> Outcome:
    """Whether ids that the model draws, or that it is declared to be given, can lack a row.

    A failure that rests on assumed numbers must be seen with several choices of them.
    """
    first: Outcome | None = None
    builder = None
    for variant in roles.VARIANTS:
        check = _Check(session)
        outcome, is_assumed = _looked_up(check, variant)
        if first is None:
            first, builder = outcome, session.builder
        if first["status"] != FAILED or not is_assumed:
            break
        if outcome["status"] != FAILED:
            detail = f"it depends on numbers that were assumed: {first['detail']}"
            first = {"status": NOT_RUN, "detail": detail}
            break
    assert first is not None
    session.builder = builder
    return first


def _looked_up(check: _Check, variant: int) -> tuple[Outcome, bool]:
    """What the lookups of one call show, and whether that rests on assumed numbers."""
    if check.size(variant) > _LARGE:
        with placement.without_data():
            for call in check.calls(variant):
                return _observed(check, call, "fake"), bool(call.attempt.builder.numbers.assumed)
    for call in check.calls(variant):
        outcome = _observed(check, call, "cpu")
        if outcome["status"] != NOT_RUN:
            return outcome, bool(call.attempt.builder.numbers.assumed)
    return check.not_run(), False


def _observed(check: _Check, call: _Call, device: str) -> Outcome:
    refused: tuple[Specs, str] | None = None
    for specs in check.specs(call):
        intervals = Intervals()
        intervals.where = lambda: innermost(inspect.currentframe())
        given = {name: spec.make("cpu") for name, spec in specs.items()}
        for name, spec in specs.items():
            if spec.declared is not None:
                intervals.declare(given[name], *spec.declared)
        error = call.run(specs, "cpu", intervals, ReadNumbers(intervals), given=given)
        if intervals.failures and not intervals.were_read:
            call.note(specs)
            return {"status": FAILED, "device": device, "detail": str(intervals.failures[0])}
        if device == "cpu" and (fact := _seen(call, specs)) is not None:
            call.note(specs)
            return {"status": FAILED, "device": "cpu", "detail": fact}
        if error is None:
            call.note(specs)
            return {"status": PASSED, "device": device, "detail": _harmless(intervals)}
        refused = refused or _refused(call, specs)
        check.learn(call, error, specs)
    if refused is None:
        return check.not_run()
    call.note(refused[0])
    return {"status": FAILED, "device": "cpu", "detail": refused[1]}


def _refused(call: _Call, specs: Specs) -> tuple[Specs, str] | None:
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
    has_width = spec.is_documented and len(spec.shape) - 1 not in spec.free and spec.shape[-1] not in (BATCH, TIME)
    return spec.is_real or has_width


def _seen(call: _Call, specs: Specs) -> str | None:
    """What real lookups raise, with the ids that come and with the largest that could be drawn."""
    for trial in range(_TRIALS):
        watch, _ = _watched(call, specs, trial)
        if is_outside(watch):
            is_meant = is_made_by_code(specs, is_outside, partial(_watched, call, trial=trial))
            return watch.fact if is_meant else None
        if not watch.seen:
            return None
    return None


def _watched(call: _Call, specs: Specs, trial: int = 0) -> tuple[Watch, Exception | None]:
    """One call with all its lookups in view; in each trial but the first, ids are drawn in another way."""
    torch.manual_seed(trial)
    given = {name: spec.make("cpu") for name, spec in specs.items()}
    watch = _Everything(given)
    modes = (Forced(trial - 1, None),) if trial else ()
    return watch, call.run(specs, "cpu", *modes, watch, given=given)


def _harmless(intervals: Intervals) -> str:
    known = intervals.lookups
    if not known:
        return "the call works, and looks nothing up with ids of a known range"
    widest = max(known, key=lambda lookup: lookup.ids.high / lookup.rows)
    number = f"{len(known)} lookups have rows for all ids" if len(known) > 1 else "the lookup has rows for all ids"
    return f"{number}: {widest}"


# -- lengths ---------------------------------------------------------------------------------------------------------


def boundaries_check(session: Session, _: Claim) -> Outcome:
    """Whether the shortest inputs get through, and those that fill a table."""
    check = _Check(session)
    with check.small() as size:
        if size > _LARGE:
            return {"status": NOT_RUN, "detail": too_many(size)}
        for variant in (0, roles.EQUAL):
            for call in check.calls(variant):
                for specs in check.specs(call):
                    error = call.run(specs, "cpu")
                    if error is None:
                        call.note(specs)
                        return _at_the_ends(check, call, specs)
                    check.learn(call, error, specs)
        return check.not_run()


def _at_the_ends(check: _Check, call: _Call, specs: Specs) -> Outcome:
    if not any(TIME in spec.shape for spec in specs.values()):
        return {"status": NOT_RUN, "detail": "none of its inputs has a length"}
    passed, limits, full = [TIME], [], _full(call)
    for length in (2, 1, *(size + step for size in full for step in (-1, 0, 1))):
        error = call.run(_lasting(specs, length), "cpu")
        if error is None:
            passed.append(length)
            continue
        said = f"a length of {length} raises {described(error)[:200]}"
        is_off_by_one = length in full and length - 1 in passed
        if isinstance(error, IndexError) and (length < TIME or is_off_by_one):
            return {"status": FAILED, "device": "cpu", "detail": f"{said}; one of {passed[-1]} works"}
        limits.append(said)
    shown = ", ".join(map(str, sorted(passed)))
    detail = f"lengths {shown} work" + (f"; {limits[0]}" if limits else "")
    return {"status": PASSED, "device": "cpu", "detail": detail}


def _full(call: _Call) -> list[int]:
    """The rows of each table that may hold positions: embeddings, buffers, and parameters that belong to no layer."""
    modules = list(call.owner.modules()) if isinstance(call.owner, nn.Module) else []
    rows = {part.num_embeddings for part in modules if isinstance(part, nn.Embedding)}
    for part in modules:
        is_layer = type(part).__module__.startswith("torch.nn.")
        tables = [*part._buffers.values(), *(() if is_layer else part._parameters.values())]
        rows |= {table.shape[-2] for table in tables if table is not None and table.dim() > 1}
    return [size for size in sorted(rows) if size in _TABLES][:_SHOWN]


def _lasting(specs: Specs, length: int) -> Specs:
    """Inputs of another length."""
    return {
        name: replace(spec, shape=tuple(length if size == TIME else size for size in spec.shape))
        for name, spec in specs.items()
    }


# -- recipes ---------------------------------------------------------------------------------------------------------


def recipe_loading_check(session: Session, _: Claim) -> Outcome:
    """Whether HyperPyYAML loads a recipe and can make what it names."""
    session.begin("loading the recipe")
    shallow = Loading(session.target, session.overrides, session.stand_ins)
    if shallow.errors:
        return {"status": FAILED, "device": "cpu", "detail": f"loading the recipe {shallow.errors[0][1]}"}
    session.begin("looking for what the recipe names")
    if (lacking := shallow.lacks()) is not None:
        return {"status": FAILED, "device": "cpu", "detail": f"loading the recipe {lacking}"}
    number = len(shallow.objects)
    return {"status": PASSED, "device": "cpu", "detail": f"HyperPyYAML loads its {number} keys"}


def recipe_placement_check(session: Session, _: Claim) -> Outcome:
    """Which layers stay behind that objects in `modules` hold, and which none of them holds."""
    with session.machine():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build(None)
        modules = objects.get(recipes.MODULES)
        if not modules:
            return {"status": NOT_RUN, "detail": "the recipe has no `modules`"}
        session.begin("moving `modules`")
        kept = recipes.place(objects, placement.DEVICE)
        stayed = [path for path, tensor in placement.state(modules, "modules") if tensor.device.type == "cpu"]
        if stayed:
            names = ", ".join(f"`{path}`" for path in stayed[:_SHOWN]) + (" …" if len(stayed) > _SHOWN else "")
            detail = f"after `modules` moved to {placement.DEVICE}, {names} stayed on `cpu`"
            return {"status": FAILED, "device": "fake", "detail": detail}
        unbuilt = [name for name, layer in kept.items() if isinstance(layer, recipes.Unbuilt)]
        if unbuilt:
            reason = f"`{unbuilt[0]}` could not be built: {recipe.reason(kept[unbuilt[0]])}"
            return {"status": NOT_RUN, "detail": reason}
        number = len(list(placement.state(modules)))
        others = [
            key
            for key, value in objects.items()
            if key != recipes.MODULES and any(t.device.type == "cpu" for _, t in placement.state(value))
        ]
        left = f"; outside of `modules`, and on `cpu`: {', '.join(f'`{key}`' for key in others)}" if others else ""
        detail = f"the {number} parameters and buffers below `modules` move to {placement.DEVICE}{left}"
        return {"status": PASSED, "device": "fake", "detail": detail}
