"""Runs at the limits: the shortest sequences, positions past the length, tables that are just full, one more step.

Everything is run for real on the CPU. A fact is always a pair: what gets through, and the next that does not.
"""

from __future__ import annotations

import inspect
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from . import roles
from .beside import POSITIONS
from .calls import Call, is_refusal, lasting, position_inputs, with_positions
from .places import Spot
from .reaching import is_at
from .sentinels import Sentinel
from .specs import BATCH, IMAGE, SAMPLES, TIME
from .standins import described, unwrapped
from .tensors import tensors_in
from .verdicts import Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.claims.positions import (
        LengthNotPositions,
        NegativeFiller,
        RowsDiffer,
        StepBeyond,
        TableEnds,
        TableShort,
    )

    from .attempts import Attempt
    from .calls import CallRun, Specs
    from .classes import Builder
    from .session import Session

    _Ends = LengthNotPositions | StepBeyond | TableEnds | RowsDiffer | TableShort | NegativeFiller

#: Seconds of processor time after which no further way to call a function is tried.
_PATIENCE = 25.0
_SHORTEST = (1, 2, TIME)
_TABLE_LIMIT = 200_000
#: The largest size of inputs that is tried.
_LONGEST = 4096
#: The two sizes in torch's error about tensors that cannot be broadcast.
_UNEQUAL = re.compile(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)")


def boundaries(session: Session, claim: _Ends) -> Verdict:
    """Run the code of a finding at the limit that its claim names: confirmed if it fails there."""
    return _Claim(session, claim).verdict()


class _Claim:
    """One finding about positions or a table of them."""

    def __init__(self, session: Session, claim: Any) -> None:
        self._session = session
        self._claim = claim
        self._spot = Spot.of(claim.place)
        lookup = getattr(claim, "lookup", None)
        self._lookup = Spot.of(lookup) if lookup is not None else None
        self._reasons: list[str] = []
        #: Observations against the finding under assumed numbers; they refute if nothing else was seen.
        self._against: list[tuple[str, Builder]] = []
        self._is_open = False
        self._end = time.process_time() + _PATIENCE
        judges: dict[type, Callable[[Call, Specs, CallRun], Verdict | None]] = {
            POSITIONS.LengthNotPositions: self._positions,
            POSITIONS.StepBeyond: self._step,
            POSITIONS.TableEnds: self._table,
            POSITIONS.RowsDiffer: self._rows,
            POSITIONS.TableShort: self._short,
        }
        self._judge = judges.get(type(claim)) or Sentinel(session, claim, self._reasons).judge

    def verdict(self) -> Verdict:
        for path, name in self._session.functions:
            try:
                source = self._session.load(path)
            except Exception as error:
                self._reasons.append(f"{self._session.stage}: {described(unwrapped(error))}")
                continue
            owner, method = source.split(name)
            for variant in (0, roles.EQUAL):
                for attempt in self._session.attempts(owner, variant=variant, source=source):
                    try:
                        outcome = self._verdict_of_calls(attempt, name, method)
                    except Exception as error:
                        self._reasons.append(f"building `{owner}`: {described(error)}")
                        continue
                    if outcome is not None:
                        return outcome
        if self._against and not self._is_open and not self._session.stand_ins.names:
            fact, self._session.builder = self._against[0]
            return refuted(fact)
        return unconfirmed(self._reasons[0] if self._reasons else "no way to call it was found")

    def _verdict_of_calls(self, attempt: Attempt, name: str, method: str) -> Verdict | None:
        """The verdict of calls with all combinations of inputs; None if none decides. Raises the errors of building."""
        for is_full in (False, True):
            call = Call(attempt, method, self._lookup, self._session.observed, self._spot)
            self._session.begin(f"calling `{name}`")
            inputs = call.inputs(is_full=is_full)
            for specs in inputs.combinations():
                if time.process_time() > self._end:
                    self._reasons.append("there are too many ways to call it")
                    return None
                base = call.run(specs)
                known = len(self._against)
                outcome = self._judge(call, specs, base)
                if outcome is not None or len(self._against) > known:
                    return outcome
                if base.error is not None:
                    if not base.passed:
                        self._reasons.append(f"calling `{name}`: {described(base.error)[:200]}")
                    inputs.learn(base.error, specs)
        return None

    # -- positions that run ahead of the length -----------------------------------------------------------------------

    def _positions(self, call: Call, specs: Specs, base: CallRun) -> Verdict | None:
        """Call with positions that do not count up: confirmed if a table sized by the length is too small for them."""
        base = call.run_sized(specs) if self._lookup is None else base
        if not base.passed:
            return None
        names = position_inputs(call, specs, base)
        if not names:
            self._reasons.append("no input was found that the positions come from")
            return None
        if self._claim.is_offset:
            return self._ahead(call, specs, names)
        packed = call.run_sized(with_positions(specs, names, period=3))
        if packed.failed is not None:
            fact = f"positions that count up pass, packed ones (0, 1, 2, 0, 1) do not ({packed.failed}): {packed.said}"
            return self._confirm(call, specs, fact)
        later = call.run_sized(with_positions(specs, names, start=3))
        if later.passed and base.rows == base.highest + 2 and later.rows == later.highest + 1:
            fact = (
                f"positions up to {base.highest} get {base.rows} rows, one more than they or the length need; "
                f"positions up to {later.highest} get the {later.rows} that they need"
            )
            return self._confirm(call, specs, fact)
        if not (packed.passed and later.passed):
            self._is_open = True
        elif all(run.rows == run.highest + 1 and run.rows in run.sizes for run in (base, later)):
            self._against.append(("the table has just the rows that positions need", call.attempt.builder))
        return None

    def _ahead(self, call: Call, specs: Specs, names: list[str]) -> Verdict | None:
        """Measure the table's spare rows: confirmed if positions may run ahead of the length by as many and no more."""
        spare: list[int] = []
        grows = False
        for length in _SHORTEST:
            shorter = lasting(specs, length)
            plain = call.run_sized(shorter)
            if not plain.passed:
                continue
            room = plain.rows - 1 - plain.highest
            spare.append(room)
            full = call.run_sized(with_positions(shorter, names, start=room))
            over = call.run_sized(with_positions(shorter, names, start=room + 1))
            if full.passed and over.failed is not None and _is_size(over, spare):
                fact = (
                    f"length {length}: positions up to {full.highest} pass, position {over.highest} fails "
                    f"({over.failed}): {over.said}"
                )
                return self._confirm(call, shorter, fact)
            grows = over.passed and over.rows > full.rows and bool(over.sizes)
        fact = "the table grows with the positions"
        if grows and call.attempt.is_certain:
            return refuted(fact)
        self._reasons.append(fact if grows else "no position was found that is beyond the table")
        if grows:
            self._against.append((fact, call.attempt.builder))
        else:
            self._is_open = True
        return None

    # -- one step on --------------------------------------------------------------------------------------------------

    def _step(self, call: Call, specs: Specs, base: CallRun) -> Verdict | None:
        """Call with a cache of tokens and one more token: confirmed if its position is beyond the input's length."""
        if not base.passed:
            return None
        kept: tuple[str, ...] = self._claim.past
        if not kept and base.error is not None:
            # A layer's own cache is filled only once a call has ended.
            return None
        names = position_inputs(call, specs, base)
        if not names:
            self._reasons.append("no input was found that the positions come from")
            return None
        step = with_positions(lasting(specs, 1), names, start=TIME)
        failed: CallRun | None = None
        for past in _pasts(specs) if kept else [None]:
            run = call.run(step, dict.fromkeys(kept, past))
            if run.passed:
                if call.attempt.is_certain and run.values:
                    fact = f"a step at position {TIME} with {TIME} tokens kept passes"
                    return refuted(fact)
                self._reasons.append("a step with tokens kept passes")
                return None
            failed = run if run.failed is not None else failed
        if failed is None:
            self._reasons.append("no step with tokens kept gets as far as the table")
            return None
        fact = (
            f"{TIME} tokens at once pass; a step at position {TIME} with {TIME} tokens kept fails "
            f"({failed.failed}): {failed.said}"
        )
        return self._confirm(call, step, fact)

    # -- a table of a fixed length ------------------------------------------------------------------------------------

    def _table(self, call: Call, specs: Specs, base: CallRun) -> Verdict | None:
        """As many rows as the table has pass, one more does not."""
        if not base.passed or base.rows > _TABLE_LIMIT:
            return None
        for axis in _axes(specs):
            outcome = self._along(axis, call, specs, base)
            if outcome is not None:
                return outcome
        return None

    def _rows(self, call: Call, specs: Specs, base: CallRun) -> Verdict | None:
        """Call it: confirmed if the claimed number of rows is lacking, or any, if positions do not depend on inputs."""
        more: int = self._claim.more
        sizes = self._sizes(base)
        is_fitting = not more or (sizes is not None and sizes[0] == sizes[1])
        if base.passed and base.error is None and call.attempt.is_certain and is_fitting:
            return refuted(f"a call passes ({base.found[0]})")
        if more:
            ways = (sizes, sizes[::-1]) if sizes is not None else ()
            resized = [one for many, rows in ways for one in _with_patches(specs, many - more, rows)]
            for given in (specs, *resized):
                run = base if given is specs else call.run(given)
                found = self._sizes(run) if run.error is not None else None
                if found is not None and abs(found[0] - found[1]) == abs(more):
                    return self._confirm(call, given, run.said if run.failed is None else f"{run.failed}: {run.said}")
        elif base.failed is not None and not any(
            run.found and run.highest != base.highest for run in map(call.run, _double_each(specs))
        ):
            return self._confirm(call, specs, f"{base.failed}: {base.said}")
        return None

    def _sizes(self, run: CallRun) -> tuple[int, int] | None:
        """The numbers of positions and of rows, in any order, that meet at the look-up; None if unknown."""
        if run.found:
            return run.highest + 1, run.rows
        if run.error is None or self._lookup is None or not is_at(run.error, self._lookup):
            return None
        few, *many = sorted(_unequal(run.error)) or [0]
        return (few, many[0]) if many else None

    # -- a table that is combined with more rows than it has ----------------------------------------------------------

    def _short(self, call: Call, specs: Specs, base: CallRun) -> Verdict | None:
        """Call with longer inputs, or with what earlier calls have left: confirmed if the table does not fit."""
        if not base.values or (base.error is not None and (self._claim.is_kept or not _unequal(base.error))):
            return None
        return self._join_past(call, specs) if self._claim.is_kept else self._find_limit(call, specs, base)

    def _find_limit(self, call: Call, specs: Specs, base: CallRun) -> Verdict | None:
        """Let each size of the inputs grow: confirmed if from some size on, the table has one row less than that."""
        for axis in _axes(specs):
            passing, failing = axis.value(specs), axis.value(specs) + 1
            if base.error is not None:
                passing, failing = 1, passing
                if call.run(axis.at(specs, passing)).error is not None:
                    continue
            while failing <= _LONGEST and (run := call.run(axis.at(specs, failing))).error is None:
                passing, failing = failing, 2 * failing
            while failing <= _LONGEST and failing - passing > 1:
                middle = (passing + failing) // 2
                is_short = call.run(axis.at(specs, middle)).error is not None
                passing, failing = (passing, middle) if is_short else (middle, failing)
            run = call.run(axis.at(specs, min(failing, _LONGEST)))
            if run.error is not None and run.values and _unequal(run.error) == {passing, failing}:
                return self._confirm(
                    call, specs, f"{axis.name} {passing} passes, {failing} fails: {described(run.error)[:200]}"
                )
        self._reasons.append("no size was found that is beyond the table")
        return None

    def _join_past(self, call: Call, specs: Specs) -> Verdict | None:
        """Call with what earlier calls have left: confirmed if the table lacks as many rows as that has."""
        parameters = inspect.signature(call.function).parameters.values()
        for name in [one.name for one in parameters if one.default is None and one.name not in specs]:
            for past in _pasts(specs):
                run = call.run(specs, {name: past})
                if run.error is not None and run.values and _unequal(run.error) == {TIME, 2 * TIME}:
                    fact = f"{TIME} tokens pass; with {TIME} earlier ones in `{name}`: {described(run.error)[:200]}"
                    return self._confirm(call, specs, fact)
        self._reasons.append("no way to pass what earlier calls have left gets as far as the table")
        return None

    def _along(self, axis: _Axis, call: Call, specs: Specs, base: CallRun) -> Verdict | None:
        """Let one size grow to the rows of the table, and beyond: confirmed if one more fails or is cut off."""
        start = axis.value(specs)
        moved = call.run(axis.at(specs, start + 1))
        if not moved.found or moved.highest != base.highest + 1:
            return None
        last = start + base.rows - 1 - base.highest
        below, full = (call.run(axis.at(specs, size)) for size in (last - 1, last))
        over = call.run(axis.at(specs, last + 1))
        if not (below.passed and full.passed and over.found):
            self._reasons.append(f"{axis.name} {last}: {full.said or over.said}")
            return None
        passes = f"{axis.name} {last - 1} and {last} pass, {last + 1}"
        if over.failed is not None:
            return self._confirm(call, specs, f"{passes} fails ({over.failed}): {over.said}")
        if over.highest < over.rows:
            if call.attempt.is_certain:
                detail = f"{axis.name} {last + 1} has a table of {over.rows} rows"
                return refuted(detail)
            self._reasons.append("the table grows with the length")
            return None
        if full.error is not None or is_refusal(over.error):
            self._reasons.append(f"{axis.name} {last}: {full.said}" if full.error is not None else over.said)
            return None
        if over.error is not None:
            return self._confirm(call, specs, f"{passes} fails ({over.found[0]}): {over.said}")
        if _shapes(over.result) == _shapes(full.result):
            return self._confirm(call, specs, f"{passes} gets no more than {last} ({over.found[0]})")
        return None

    def _confirm(self, call: Call, specs: Specs, fact: str) -> Verdict:
        call.note(specs)
        return confirmed(fact)


def _is_size(run: CallRun, spare: list[int]) -> bool:
    """True if the table has as many rows as the observed expression says.

    If nothing was observed, the table must be longer than the input by the same number for two lengths.
    """
    return run.rows in run.sizes if run.sizes else len(spare) > 1 and spare[-1] == spare[-2]


class _Kept:
    """A cache object that holds keys and values of `TIME` tokens."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._part = torch.zeros(shape)
        self.seen_tokens = TIME

    def update(self, keys: torch.Tensor, values: Any = None, *_: Any, **__: Any) -> Any:
        longer = torch.cat([torch.zeros(*keys.shape[:-2], TIME, keys.shape[-1]), keys], dim=-2)
        if not isinstance(values, torch.Tensor):
            return longer
        return longer, torch.cat([torch.zeros(*values.shape[:-2], TIME, values.shape[-1]), values], dim=-2)

    def get_seq_length(self, *_: Any, **__: Any) -> int:
        return TIME

    get_usable_length = get_seq_length

    def __len__(self) -> int:
        return 1

    def __getitem__(self, _: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return self._part, self._part


def _pasts(specs: Specs) -> Iterator[Any]:
    """Possible caches of `TIME` tokens: tensors like the inputs, pairs of them, and cache objects."""
    shapes = [spec.shape for spec in specs.values() if spec.kind == "float" and TIME in spec.shape]
    wide = [shape for shape in shapes if len(shape) == 3]
    shapes += [(shape[0], 4, *shape[1:]) for shape in wide]
    shapes += [(shape[0], 4, shape[1], shape[2] // 4) for shape in wide]
    for shape in dict.fromkeys(shapes):
        yield torch.zeros(shape)
        yield torch.zeros(shape), torch.zeros(shape)
        yield _Kept(shape)


def _unequal(error: Exception | None) -> set[int]:
    """The sizes that differ, by torch's error about tensors that cannot be broadcast; none for other errors."""
    found = _UNEQUAL.search(str(error)) if isinstance(error, RuntimeError) else None
    return set() if found is None else {int(found[1]), int(found[2])}


def _double_each(specs: Specs) -> Iterator[Specs]:
    """The inputs with each size, and each number, doubled in turn."""
    for name, spec in specs.items():
        for at, size in enumerate(spec.shape):
            yield {**specs, name: replace(spec, shape=(*spec.shape[:at], 2 * size, *spec.shape[at + 1 :]))}
        if type(spec.value) is int:
            yield {**specs, name: replace(spec, value=2 * spec.value)}
        if spec.kind == "positions":
            yield {**specs, name: replace(spec, start=1)}


def _with_patches(specs: Specs, patches: int, wanted: int) -> Iterator[Specs]:
    """The inputs with square images of another size, which have the wanted number of patches of the same size."""
    side = IMAGE * wanted**0.5 / max(1, patches) ** 0.5
    for name, spec in specs.items():
        if spec.shape[-2:] == (IMAGE, IMAGE) and side.is_integer():
            yield {**specs, name: replace(spec, shape=(*spec.shape[:-2], int(side), int(side)))}


class _Axis:
    """A size of the inputs that can grow: the length of sequences, a side of images, or a number."""

    def __init__(self, name: str, input_name: str = "", dim: int | None = None) -> None:
        self.name = name
        self._input = input_name
        self._dim = dim

    def value(self, specs: Specs) -> int:
        if not self._input:
            return TIME
        spec = specs[self._input]
        return int(spec.value if self._dim is None else spec.shape[self._dim])

    def at(self, specs: Specs, size: int) -> Specs:
        if not self._input:
            return lasting(specs, size)
        spec = specs[self._input]
        if self._dim is None:
            return {**specs, self._input: replace(spec, value=size)}
        shape = list(spec.shape)
        shape[self._dim] = size
        return {**specs, self._input: replace(spec, shape=tuple(shape))}


def _axes(specs: Specs) -> Iterator[_Axis]:
    if any(TIME in spec.shape for spec in specs.values()):
        yield _Axis("length")
    for name, spec in specs.items():
        for dim in (-1, -2):
            if len(spec.shape) > -dim and spec.shape[dim] in (IMAGE, SAMPLES):
                side = ("width", "height")[-dim - 1] if len(spec.shape) > 3 else "length"
                yield _Axis(f"{side} of `{name}`:", name, dim)
        if spec.kind == "float" and spec.shape[:1] == (BATCH,):
            yield _Axis(f"dimension 0 of `{name}`:", name, 0)
        if spec.kind == "value" and type(spec.value) is int:
            yield _Axis(f"`{name}`", name)
        if spec.kind == "positions" and TIME not in spec.shape:
            yield _Axis(f"first position of `{name}`:", name)


def _shapes(result: Any) -> list[tuple[int, ...]]:
    return [tuple(part.shape) for part in tensors_in(result)]
