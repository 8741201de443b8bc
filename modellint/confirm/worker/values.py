"""What can be looked up at a place: models run for real on the CPU, large ones on tensors without data."""

from __future__ import annotations

import ast
import collections
import contextlib
import inspect
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from . import order, roles
from .beside import LOOKUPS
from .calls import is_refusal
from .forced import Ended, Forced
from .inputs import Inputs
from .integers import MAX_CHOICES, is_about_types, is_made_by_code, is_outside, is_real, with_integers
from .intervals import Intervals, ReadNumbers
from .making import seeing
from .operators import RULES
from .places import Spot, expression, innermost, names_in_call
from .specs import Spec
from .standins import described, likeliest
from .surroundings import Codec, Cuts, widened
from .verdicts import UNCONFIRMED, Verdict, confirmed, refuted, unconfirmed
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from modellint.claims.lookups import (
        ConstantOutside,
        FedNumbers,
        GuardAdmits,
        IdsExceed,
        PaddingOutside,
        SizedByWidth,
    )

    from .attempts import Attempt
    from .classes import Builder
    from .ranges import RangeLookup
    from .session import Session

    _Looking = SizedByWidth | FedNumbers | IdsExceed | GuardAdmits | PaddingOutside | ConstantOutside
    _Repair = Callable[[nn.Embedding], nn.Module]

_LARGE = 50_000_000
_TRIALS = 24
#: Ids that nothing counts so far, for what keeps ids below a bound.
_ENORMOUS = (10**9 + 7, 2 * 10**9 + 11)
_SCALES = (1.0, 1e3, 1e6)
#: Seconds of processor time after which no further way to call a function is tried.
_PATIENCE = 25.0


def values(session: Session, claim: _Looking) -> Verdict:
    """Whether the lookup that a finding speaks of can fail.

    What rests on assumed numbers must hold for several choices of them, each in another order.
    """
    first: Verdict | None = None
    builder: Builder | None = None
    for variant in roles.VARIANTS:
        outcome, rests_on_numbers = _Claim(session, claim, variant).judged()
        if first is None:
            first, builder = outcome, session.builder
        if outcome.status is not first.status:
            return unconfirmed(f"it depends on numbers that were assumed: {first.detail}")
        if first.status is UNCONFIRMED or not rests_on_numbers:
            break
    assert first is not None
    session.builder = builder
    return first


@dataclass
class _PreparedCall:
    """A function with an object that it belongs to, ready to be called."""

    attempt: Attempt
    function: Callable[..., Any]
    inputs: Inputs
    #: The tables made at the place of the finding, each with the module that keeps it and its name there.
    tables: list[tuple[nn.Module, str, nn.Embedding]]
    #: How many classes the head has that the finding speaks of.
    classes: int | None = None


@dataclass
class _KnownLookups:
    """What was looked up at a place with a known range; if the call got through, and if numbers were read."""

    here: list[RangeLookup]
    is_complete: bool
    were_read: bool


class _Claim:
    """One finding, judged with one choice of assumed numbers."""

    def __init__(self, session: Session, claim: _Looking, variant: int) -> None:
        self._session = session
        self._claim = claim
        self._is_swapped = isinstance(claim, LOOKUPS.SizedByWidth) and claim.is_swapped
        self._spot = Spot.of(claim.place)
        self._lookup = Spot.of(getattr(claim, "lookup", claim.place))
        self._owner, self._method = session.source().split(session.name)
        self._variant = variant
        head = getattr(claim, "head", None)
        self._head = None if head is None else Spot.of(head)
        codec: str = getattr(claim, "codec", "")
        self._codec = Codec(codec, getattr(claim, "rows", 0)) if codec else None
        #: As many classes as what cuts the scores of the head asks for.
        self._asked: int | None = None
        self._reasons: list[str] = []
        self._end = time.process_time() + _PATIENCE

    def judged(self) -> tuple[Verdict, bool]:
        """The outcome, and whether it rests on numbers that were assumed."""
        for attempt in self._session.attempts(self._owner, variant=self._variant):
            try:
                outcome = self._observed(attempt)
            except Exception as error:
                if (
                    isinstance(self._claim, LOOKUPS.PaddingOutside)
                    and isinstance(error, AssertionError)
                    and self._spot.raised_on_line(error)
                ):
                    detail = f"building raises {described(error)}"
                    return confirmed(detail), bool(attempt.builder.numbers.assumed)
                self._reasons.append(f"building: {described(error)}")
                continue
            if outcome is not None:
                return outcome, bool(attempt.builder.numbers.assumed)
        return unconfirmed(likeliest(self._reasons)), False

    def _prepared(self, attempt: Attempt) -> _PreparedCall:
        """Build what is to be called. Raises what building it raises."""
        made: list[nn.Embedding] = []
        heads: list[nn.Linear] = []
        if self._codec is not None:
            self._codec.install()
        with _noting_tables(self._spot, made), widened(self._head, heads, self._asked):
            owner = attempt.build()
            function = getattr(owner, self._method) if self._method else owner
            inputs = Inputs(function, owner, attempt)
        name = self._receiver()
        if self._codec is not None and name in inputs.candidates:
            inputs.candidates[name] = [Spec("value", value=self._codec)]
        if isinstance(owner, nn.Module):
            owner.eval()
        tables = [
            (module, name, child)
            for module in (owner.modules() if isinstance(owner, nn.Module) else ())
            for name, child in module.named_children()
            if any(child is table for table in made)
        ]
        self._session.begin(f"calling `{self._owner}`")
        if self._asked is not None:
            attempt.builder.note_other("classes of the head", str(self._asked))
        classes = max((head.out_features for head in heads), default=None)
        return _PreparedCall(attempt, function, inputs, tables, classes)

    def _receiver(self) -> str:
        """The name whose method is called at the place."""
        found = expression(self._session.source().tree, self._spot)
        while isinstance(found, ast.Call | ast.Attribute):
            found = found.func if isinstance(found, ast.Call) else found.value
        return getattr(found, "id", "")

    def _observed(self, attempt: Attempt) -> Verdict | None:
        """What calls show; None if no call shows anything. Raises what building raises."""
        with FakeTensorMode(allow_non_fake_inputs=True), contextlib.suppress(Exception):
            call = self._prepared(attempt)
            size = _parameters(call)
            if size > _LARGE and (size := self._reduced(attempt, size)) > _LARGE:
                return self._imagined(self._prepared(attempt), size)
        call = self._prepared(attempt)
        if isinstance(self._claim, LOOKUPS.PaddingOutside):
            self._reasons.append("building raises nothing")
            return None
        judge = {LOOKUPS.SizedByWidth: self._features, LOOKUPS.FedNumbers: self._continuous}.get(
            type(self._claim), self._ids
        )
        return judge(call)

    def _reduced(self, attempt: Attempt, size: int) -> int:
        """How many parameters there are when what makes a model large is small, if that is few enough."""
        builder, kept = attempt.builder, dict[str, int]()
        for name, small in list(builder.sizes.items()):
            builder.reduced = {name: small}
            with contextlib.suppress(Exception):
                if roles.is_heads(name) or _parameters(self._prepared(attempt)) < size:
                    kept[name] = small
        builder.reduced = kept
        reduced = size
        with contextlib.suppress(Exception):
            reduced = _parameters(self._prepared(attempt))
        if reduced > _LARGE:
            builder.reduced = {}
        return min(reduced, size)

    def _imagined(self, call: _PreparedCall, size: int) -> Verdict | None:
        """What the ranges of ids show for a model that is too large to be run: it has tensors without data."""
        if isinstance(self._claim, LOOKUPS.FedNumbers):
            return self._imagined_numbers(call)
        if not isinstance(self._claim, LOOKUPS.IdsExceed | LOOKUPS.ConstantOutside):
            self._reasons.append(f"{size / 1e6:.0f} million parameters are too many to run on real numbers")
            return None
        for specs in call.inputs.combinations():
            found = self._lookups(call, specs)
            failing = [lookup for lookup in found.here if lookup.fails]
            if failing and not found.were_read:
                return self._confirmed(call, specs, str(failing[0]), "fake")
            if time.process_time() > self._end:
                break
        self._reasons.append(
            f"{size / 1e6:.0f} million parameters: no id without a row was seen on tensors without data"
        )
        return None

    def _imagined_numbers(self, call: _PreparedCall) -> Verdict | None:
        """Real numbers look something up, and no call gets through: that takes no data to be seen."""
        failed: Verdict | None = None
        for specs, watch, error in self._runs(call):
            if error is None and watch.seen:
                self._reasons.append("the lookup works with these inputs")
                return None
            if failed is None and self._is_made_by_code(call, specs, watch, is_real):
                failed = self._confirmed(call, specs, watch.fact, "fake")
        return failed

    # -- real numbers as ids ------------------------------------------------------------------------------------------

    def _continuous(self, call: _PreparedCall) -> Verdict | None:
        """Real numbers that the model makes look something up, and no call that gets through avoids it."""
        failed: Verdict | None = None
        for specs, watch, error in self._runs(call):
            if error is None and watch.seen:
                return self._with_larger_numbers(call, specs, [])
            if failed is None and watch.is_outside:
                failed = self._with_larger_numbers(call, specs, [], watch.highest)
            if failed is None and self._is_made_by_code(call, specs, watch, is_real):
                failed = self._confirmed(call, specs, watch.fact)
        return failed

    def _with_larger_numbers(
        self, call: _PreparedCall, specs: dict[str, Spec], tables: list[nn.Embedding], highest: int | None = None
    ) -> Verdict | None:
        """Features have no largest value: ids that are made of them leave every table, unless something keeps them.

        `highest` is the largest id where numbers of a usual size leave the table already.
        """
        for scale in _SCALES[1:]:
            watch, _ = self._run(call, specs, tables, scale=scale)
            if watch.highest != highest and self._is_made_by_code(call, specs, watch, is_outside, tables, scale):
                return self._confirmed(call, specs, f"with inputs about {scale:g} in size, {watch.fact}")
        self._reasons.append("the lookup works with these inputs")
        return None

    def _is_made_by_code(
        self,
        call: _PreparedCall,
        specs: dict[str, Spec],
        watch: Watch,
        fails: Callable[[Watch], bool],
        tables: list[nn.Embedding] | None = None,
        scale: float = 1.0,
    ) -> bool:
        """Whether a lookup fails for what the code does, not for real numbers that were made up as its inputs."""
        if not fails(watch):
            return False
        if is_made_by_code(specs, fails, lambda integers: self._run(call, integers, tables or [], scale=scale)):
            return True
        self._reasons.append("nothing says that the inputs are real numbers, and with integers it does not fail")
        return False

    def _features(self, call: _PreparedCall) -> Verdict | None:
        """The table is looked up with features, or its two sizes are swapped, or it has too few rows.

        That an input consists of real numbers, or which ids it can have, must be known: guesses show nothing.
        """
        if not call.tables:
            self._reasons.append("the table is not part of what was built")
            return None
        tables = [table for _, _, table in call.tables]
        for guessed, watch, error in self._runs(call, tables):
            if not watch.seen:
                continue
            if watch.is_not_ids:
                specs = self._known(call, guessed, _Projection)
                watch, _ = self._run(call, specs, tables)
                if watch.is_not_ids:
                    return self._confirmed(call, specs, watch.fact)
                continue
            if error is not None and watch.error is None:
                specs = self._known(call, guessed, _swapped)
                watch, error = self._run(call, specs, tables)
                if (
                    error is not None
                    and watch.seen
                    and watch.error is None
                    and not self._failure(call, specs, _swapped)
                ):
                    detail = f"{described(error)[:200]}; with the two sizes swapped it runs"
                    return self._confirmed(call, specs, detail)
            larger = self._beyond_bound(call, guessed, tables)
            if larger is None and error is None:
                larger = self._beyond_vocabulary(call, guessed, tables) or self._with_larger_numbers(
                    call, self._known(call, guessed), tables
                )
            if larger is not None:
                return larger
            if error is None and (fact := self._fits(call, guessed, tables)) is not None:
                return refuted(fact)
        sizes = self._sizes()
        if self._is_swapped and sizes.rows_are_ids and sizes.columns_are_features:
            layer = order.takes_columns(getattr(call.function, "__self__", call.function), tables)
            if layer is not None:
                return refuted(
                    f"`{layer}` takes as many features as it has columns, and nothing as many as it has rows"
                )
        return None

    def _sizes(self) -> order.Sizes:
        """What the sizes of the table are written as."""
        return order.Sizes(self._session.source().tree, self._spot)

    def _fits(self, call: _PreparedCall, specs: dict[str, Spec], tables: list[nn.Embedding]) -> str | None:
        """How inputs that can be nothing but ids look the table up, whose rows are not called like a width."""
        sizes = self._sizes()
        if not sizes.rows_are_ids or any(spec.is_made_up_real for spec in specs.values()):
            return None
        fills = {
            name: min(table.num_embeddings for table in tables) - 1
            for name, spec in specs.items()
            if spec.kind == "ids"
        }
        watch, error = self._run(call, specs, tables, fills=fills)
        if not fills or not watch.seen or error is not None:
            return None
        if self._failure(call, specs, _swapped) is not None:
            return "ids look it up, of each of its rows; with the two sizes swapped the code does not run"
        if self._is_swapped and sizes.rows is not None and sizes.rows_are_counted and sizes.columns_are_features:
            return f"ids look it up, of each of its rows, and these are counted: `{ast.unparse(sizes.rows)}`"
        return None

    def _known(self, call: _PreparedCall, specs: dict[str, Spec], repaired: _Repair | None = None) -> dict[str, Spec]:
        """The inputs, with integers in the place of real numbers that were made up for what can take integers.

        Inputs are real where the settings say so, where their documented width is the number of rows, and where the
        model, its table repaired, takes them and refuses integers of the same shape.
        """
        widths = {table.num_embeddings for _, _, table in call.tables}
        error = self._failure(call, specs, repaired)
        guessed = dict(specs)
        for name, spec in specs.items():
            is_told = spec.is_documented and len(spec.shape) - 1 not in spec.free and spec.shape[-1] in widths
            if is_told and error is None:
                del guessed[name]
        for number, integers in enumerate(with_integers(guessed)):
            known = {**specs, **integers}
            if error is not None or number >= MAX_CHOICES:
                return known
            if not is_about_types(self._failure(call, known, repaired)):
                return known
        return specs

    def _beyond_bound(self, call: _PreparedCall, specs: dict[str, Spec], tables: list[nn.Embedding]) -> Verdict | None:
        """However large ids are, the code keeps them below the number of columns, and there are fewer rows."""
        columns = {table.embedding_dim for table in tables}
        for name, spec in specs.items():
            if spec.kind == "ids":
                seen = [self._run(call, specs, tables, fills={name: fill})[0] for fill in _ENORMOUS]
                is_bounded = all(watch.highest is not None and {watch.highest + 1} == columns for watch in seen)
                if is_bounded and all(watch.is_outside and not watch.is_input for watch in seen):
                    detail = f"however large `{name}` are, the code keeps them below the number of columns"
                    return self._confirmed(call, specs, f"{detail}: {seen[0].fact}")
        return None

    def _beyond_vocabulary(
        self, call: _PreparedCall, specs: dict[str, Spec], tables: list[nn.Embedding]
    ) -> Verdict | None:
        """The table has a width for rows, and no table but it can be meant by the vocabulary of the model."""
        rows = {table.num_embeddings for table in tables}
        owner = getattr(call.function, "__self__", call.function)
        parts = owner.modules() if isinstance(owner, nn.Module) else ()
        others = {part.num_embeddings for part in parts if isinstance(part, nn.Embedding)} - rows
        sizes = names_in_call(self._session.source().tree, self._spot)
        if not any(call.inputs.named.states(name) in rows for name in sizes) or any(map(roles.counts_ids, sizes)):
            return None
        for name, spec in specs.items():
            if spec.declared is not None and spec.declared[1] + 1 not in others:
                watch, _ = self._run(call, specs, tables, fills={name: spec.declared[1]})
                if watch.is_outside:
                    return self._confirmed(call, specs, f"{spec.declared[2]}: {watch.fact}")
        return None

    def _failure(self, call: _PreparedCall, specs: dict[str, Spec], repaired: _Repair | None) -> Exception | None:
        """What a call raises, once the table is repaired if that is asked for; None if it gets through."""
        if repaired is not None:
            for module, name, table in call.tables:
                setattr(module, name, repaired(table))
        try:
            return self._run(call, specs, [])[1]
        finally:
            for module, name, table in call.tables:
                setattr(module, name, table)

    # -- ids that have no row -----------------------------------------------------------------------------------------

    def _ids(self, call: _PreparedCall) -> Verdict | None:
        """Ids that the code draws or writes look up rows that are not there."""
        for specs, watch, error in self._runs(call):
            if not watch.seen:
                if self._is_cut_beyond(call):
                    return self._ids(self._prepared(call.attempt))
                continue
            if watch.is_outside and not watch.is_input:
                return self._confirmed(call, specs, self._fact(call, specs, watch))
            if isinstance(self._claim, LOOKUPS.ConstantOutside):
                continue
            failed = self._forced(call, specs, watch.rows)
            if failed is not None:
                return self._confirmed(call, specs, self._fact(call, specs, failed))
            if error is None and self._cannot_fail(call, specs):
                return refuted(str(self._lookups(call, specs).here[0]))
            if (
                isinstance(self._claim, LOOKUPS.GuardAdmits)
                and watch.rows is not None
                and self._is_guarded(call, specs, watch.rows)
            ):
                detail = f"id {watch.rows - 1} gets to the table of {watch.rows} rows, and id {watch.rows} does not"
                return refuted(detail)
        if not self._reasons:
            self._reasons.append("no id without a row was seen")
        return None

    def _is_cut_beyond(self, call: _PreparedCall) -> bool:
        """Whether what cuts the scores of the head asks for classes that it has not got with the numbers at hand."""
        return call.classes is not None and self._asked is not None and call.classes < self._asked

    def _forced(self, call: _PreparedCall, specs: dict[str, Spec], rows: int | None) -> Watch | None:
        """A run in which an id without a row is looked up: drawn, or given where the code checks what it is given."""
        if isinstance(self._claim, LOOKUPS.GuardAdmits) and rows is not None:
            for name, spec in specs.items():
                if spec.kind == "ids":
                    watch, _ = self._run(call, specs, [], fills={name: rows})
                    if watch.is_outside:
                        return watch
        for trial in range(_TRIALS):
            if time.process_time() > self._end:
                return None
            target = rows if trial % 2 else None
            watch, _ = self._run(call, specs, [], modes=(Forced(trial // 2, target),), seed=trial)
            if watch.is_outside:
                return watch
        return None

    def _is_guarded(self, call: _PreparedCall, specs: dict[str, Spec], rows: int) -> bool:
        """Whether the last row can be looked up, and the code refuses the next id, or makes another one of it."""
        given = [name for name, spec in specs.items() if spec.kind == "ids"]
        for name in given:
            last, failure = self._run(call, specs, [], fills={name: rows - 1})
            over, error = self._run(call, specs, [], fills={name: rows})
            if not (last.seen and failure is None and (is_refusal(error) or (over.seen and error is None))):
                return False
        if given:
            return True
        drawn = [self._run(call, specs, [], modes=(Forced(0, id_),))[1] for id_ in (rows - 1, rows)]
        return drawn[0] is None and is_refusal(drawn[1])

    def _cannot_fail(self, call: _PreparedCall, specs: dict[str, Spec]) -> bool:
        """Whether nothing was assumed, and all that the place was seen to look up are drawn ids that have rows."""
        if not call.attempt.is_certain or any(spec.kind == "ids" for spec in specs.values()):
            return False
        found = self._lookups(call, specs)
        drawn = all(lookup.ids.origin.startswith("a choice among") for lookup in found.here)
        return bool(found.here) and found.is_complete and drawn and not any(lookup.fails for lookup in found.here)

    def _fact(self, call: _PreparedCall, specs: dict[str, Spec], watch: Watch) -> str:
        """What can be looked up, with the range of the ids if it is known."""
        failing = [lookup for lookup in self._lookups(call, specs).here if lookup.fails]
        return f"{failing[0]}; {watch.fact}" if failing else watch.fact

    def _lookups(self, call: _PreparedCall, specs: dict[str, Spec]) -> _KnownLookups:
        """What is looked up at the place, as ranges."""
        intervals = Intervals(RULES)
        spot, here = self._lookup, set[str]()

        def where() -> str:
            frame = inspect.currentframe()
            if spot.is_running(frame):
                here.add(place := innermost(frame))
                return place
            return ""

        intervals.where = where
        watch, error = self._run(call, specs, [], modes=(intervals, ReadNumbers(intervals)), intervals=intervals)
        found = [lookup for lookup in intervals.lookups if lookup.operator.partition(": ")[0] in here]
        return _KnownLookups(found, error is None and watch.seen, intervals.were_read)

    # -- running ------------------------------------------------------------------------------------------------------

    def _runs(
        self, call: _PreparedCall, tables: list[nn.Embedding] | None = None
    ) -> Iterator[tuple[dict[str, Spec], Watch, Exception | None]]:
        """Calls with one choice of inputs after the other."""
        for specs in call.inputs.combinations():
            if time.process_time() > self._end:
                return
            watch, error = self._run(call, specs, tables or [])
            yield specs, watch, error
            if error is not None and watch.error is None:
                self._reasons.append(f"calling `{self._owner}`: {described(error)[:200]}")
                call.inputs.learn(error, specs)

    def _run(
        self,
        call: _PreparedCall,
        specs: dict[str, Spec],
        tables: list[nn.Embedding],
        *,
        scale: float = 1.0,
        fills: dict[str, int] | None = None,
        modes: tuple[Any, ...] = (),
        intervals: Intervals | None = None,
        seed: int = 0,
    ) -> tuple[Watch, Exception | None]:
        """One call."""
        torch.manual_seed(seed)
        arguments = {name: spec.make("cpu", scale, (fills or {}).get(name)) for name, spec in specs.items()}
        if intervals is not None:
            for name, spec in specs.items():
                if spec.declared is not None:
                    intervals.declare(arguments[name], *spec.declared)
        watch = Watch(self._lookup, tables, [v for v in arguments.values() if isinstance(v, torch.Tensor)])
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            cuts = None
            if call.classes is not None:
                stack.enter_context(Ended())
                cuts = stack.enter_context(Cuts(call.classes))
            for mode in (*modes, watch):
                stack.enter_context(mode)
            try:
                result = call.function(**arguments)
                if inspect.isgenerator(result):
                    collections.deque(result, maxlen=0)
            except Exception as error:
                if cuts is not None:
                    self._asked = max(cuts.asked, self._asked or 0)
                return watch, error
        return watch, None

    def _confirmed(self, call: _PreparedCall, specs: dict[str, Spec], detail: str, device: str = "cpu") -> Verdict:
        call.attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})
        return confirmed(detail, device)


def _parameters(call: _PreparedCall) -> int:
    """How many numbers there are in the parameters of what is called, and of the modules that it is given."""
    modules = [getattr(call.function, "__self__", None)]
    modules += [spec.value for specs in call.inputs.candidates.values() for spec in specs]
    return sum(p.numel() for module in modules if isinstance(module, nn.Module) for p in module.parameters())


class _Projection(nn.Module):
    """What features should be given to in the place of a table; integers pass, too."""

    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        self.weight = table.weight

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return features.to(self.weight.dtype) @ self.weight


def _swapped(table: nn.Embedding) -> nn.Module:
    return nn.Embedding(table.embedding_dim, table.num_embeddings)


def _noting_tables(spot: Spot, made: list[nn.Embedding]) -> AbstractContextManager[None]:
    """Note the tables that are made at a place."""
    return seeing(nn.Embedding, lambda table, frame: made.append(table) if spot.is_running(frame) else None)
