"""Probes of look-ups: models run on real tensors on the CPU, large ones on tensors without data."""

from __future__ import annotations

import ast
import contextlib
import time
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from . import order, roles
from .beside import LOOKUPS
from .calls import is_refusal
from .forced import Forced
from .integers import MAX_CHOICES, is_about_types, is_made_by_code, is_outside, is_real, with_integers
from .looking import LARGE, LookupRuns, PreparedCall, parameters_of
from .places import names_in_call
from .standins import described, likeliest
from .verdicts import UNCONFIRMED, Verdict, confirmed, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Callable

    from .attempts import Attempt
    from .classes import Builder
    from .looking import Looking
    from .session import Session
    from .specs import Spec
    from .watch import Watch

    _Repair = Callable[[nn.Embedding], nn.Module]

_TRIALS = 24
#: Enormous ids, to find code that keeps ids below a bound.
_ENORMOUS = (10**9 + 7, 2 * 10**9 + 11)
_SCALES = (1.0, 1e3, 1e6)


def values(session: Session, claim: Looking) -> Verdict:
    """Run the function: confirmed if the look-up of the finding fails.

    A verdict that rests on assumed numbers must hold for several choices of them, each in another order.
    """
    first: Verdict | None = None
    builder: Builder | None = None
    for variant in roles.VARIANTS:
        outcome, rests_on_numbers = _Claim(session, claim, variant).verdict()
        if first is None:
            first, builder = outcome, session.builder
        if outcome.status is not first.status:
            return unconfirmed(f"it depends on numbers that were assumed: {first.detail}")
        if first.status is UNCONFIRMED or not rests_on_numbers:
            break
    assert first is not None
    session.builder = builder
    return first


class _Claim(LookupRuns):
    """One finding, judged with one choice of assumed numbers."""

    def verdict(self) -> tuple[Verdict, bool]:
        """The verdict, and whether it rests on assumed numbers."""
        for attempt in self._session.attempts(self._owner, variant=self._variant):
            try:
                outcome = self._verdict_of_calls(attempt)
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

    def _verdict_of_calls(self, attempt: Attempt) -> Verdict | None:
        """The verdict of calls; None if they decide nothing. Raises the errors of building."""
        with FakeTensorMode(allow_non_fake_inputs=True), contextlib.suppress(Exception):
            call = self.prepare(attempt)
            size = parameters_of(call)
            if size > LARGE and (size := self.reduced(attempt, size)) > LARGE:
                return self._verdict_without_data(self.prepare(attempt), size)
        call = self.prepare(attempt)
        if isinstance(self._claim, LOOKUPS.PaddingOutside):
            self._reasons.append("building raises nothing")
            return None
        judge = {LOOKUPS.SizedByWidth: self._features, LOOKUPS.FedNumbers: self._continuous}.get(
            type(self._claim), self._ids
        )
        return judge(call)

    def _verdict_without_data(self, call: PreparedCall, size: int) -> Verdict | None:
        """The verdict by ranges of ids, on tensors without data, of a model that is too large to be run."""
        if isinstance(self._claim, LOOKUPS.FedNumbers):
            return self._imagined_numbers(call)
        if not isinstance(self._claim, LOOKUPS.IdsExceed | LOOKUPS.ConstantOutside):
            self._reasons.append(f"{size / 1e6:.0f} million parameters are too many to run on real numbers")
            return None
        for specs in call.inputs.combinations():
            found = self.lookups(call, specs)
            failing = [lookup for lookup in found.here if lookup.fails]
            if failing and not found.were_read:
                return self._confirm(call, specs, str(failing[0]), "fake")
            if time.process_time() > self._end:
                break
        self._reasons.append(
            f"{size / 1e6:.0f} million parameters: no id without a row was seen on tensors without data"
        )
        return None

    def _imagined_numbers(self, call: PreparedCall) -> Verdict | None:
        """The verdict if real numbers are used as an index and no call gets through, on tensors without data."""
        failed: Verdict | None = None
        for specs, watch, error in self.runs(call):
            if error is None and watch.seen:
                self._reasons.append("the lookup works with these inputs")
                return None
            if failed is None and self._is_made_by_code(call, specs, watch, is_real):
                failed = self._confirm(call, specs, watch.fact, "fake")
        return failed

    # -- real numbers as ids ------------------------------------------------------------------------------------------

    def _continuous(self, call: PreparedCall) -> Verdict | None:
        """Confirmed if the model uses real numbers as an index, and no call that gets through avoids it."""
        failed: Verdict | None = None
        for specs, watch, error in self.runs(call):
            if error is None and watch.seen:
                return self._with_larger_numbers(call, specs, [])
            if failed is None and watch.is_outside:
                failed = self._with_larger_numbers(call, specs, [], watch.highest)
            if failed is None and self._is_made_by_code(call, specs, watch, is_real):
                failed = self._confirm(call, specs, watch.fact)
        return failed

    def _with_larger_numbers(
        self, call: PreparedCall, specs: dict[str, Spec], tables: list[nn.Embedding], highest: int | None = None
    ) -> Verdict | None:
        """Confirmed if ids computed from larger features leave every table: features have no largest value.

        `highest` is the largest id where numbers of a usual size leave the table already.
        """
        for scale in _SCALES[1:]:
            watch, _ = self.run(call, specs, tables, scale=scale)
            if watch.highest != highest and self._is_made_by_code(call, specs, watch, is_outside, tables, scale):
                return self._confirm(call, specs, f"with inputs about {scale:g} in size, {watch.fact}")
        self._reasons.append("the lookup works with these inputs")
        return None

    def _is_made_by_code(
        self,
        call: PreparedCall,
        specs: dict[str, Spec],
        watch: Watch,
        fails: Callable[[Watch], bool],
        tables: list[nn.Embedding] | None = None,
        scale: float = 1.0,
    ) -> bool:
        """True if a look-up fails because of the code, not because of made-up real inputs."""
        if not fails(watch):
            return False
        if is_made_by_code(specs, fails, lambda integers: self.run(call, integers, tables or [], scale=scale)):
            return True
        self._reasons.append("nothing says that the inputs are real numbers, and with integers it does not fail")
        return False

    def _features(self, call: PreparedCall) -> Verdict | None:
        """Confirmed if features index the table, if its sizes are swapped, or if it has too few rows.

        That an input is real, or which ids it can have, must be known: guesses decide nothing.
        """
        if not call.tables:
            self._reasons.append("the table is not part of what was built")
            return None
        tables = [table for _, _, table in call.tables]
        for guessed, watch, error in self.runs(call, tables):
            if not watch.seen:
                continue
            if watch.is_not_ids:
                specs = self._known_inputs(call, guessed, _Projection)
                watch, _ = self.run(call, specs, tables)
                if watch.is_not_ids:
                    return self._confirm(call, specs, watch.fact)
                continue
            if error is not None and watch.error is None:
                specs = self._known_inputs(call, guessed, _swap_sizes)
                watch, error = self.run(call, specs, tables)
                if (
                    error is not None
                    and watch.seen
                    and watch.error is None
                    and not self._failure(call, specs, _swap_sizes)
                ):
                    detail = f"{described(error)[:200]}; with the two sizes swapped it runs"
                    return self._confirm(call, specs, detail)
            larger = self._beyond_bound(call, guessed, tables)
            if larger is None and error is None:
                larger = self._beyond_vocabulary(call, guessed, tables) or self._with_larger_numbers(
                    call, self._known_inputs(call, guessed), tables
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
        """The expressions of the table's sizes."""
        return order.Sizes(self._session.source().tree, self._spot)

    def _fits(self, call: PreparedCall, specs: dict[str, Spec], tables: list[nn.Embedding]) -> str | None:
        """A sentence if ids, and nothing but ids, look the table up whose rows are not named like a width; or None."""
        sizes = self._sizes()
        if not sizes.rows_are_ids or any(spec.is_made_up_real for spec in specs.values()):
            return None
        fills = {
            name: min(table.num_embeddings for table in tables) - 1
            for name, spec in specs.items()
            if spec.kind == "ids"
        }
        watch, error = self.run(call, specs, tables, fills=fills)
        if not fills or not watch.seen or error is not None:
            return None
        if self._failure(call, specs, _swap_sizes) is not None:
            return "ids look it up, of each of its rows; with the two sizes swapped the code does not run"
        if self._is_swapped and sizes.rows is not None and sizes.rows_are_counted and sizes.columns_are_features:
            return f"ids look it up, of each of its rows, and these are counted: `{ast.unparse(sizes.rows)}`"
        return None

    def _known_inputs(
        self, call: PreparedCall, specs: dict[str, Spec], repaired: _Repair | None = None
    ) -> dict[str, Spec]:
        """The inputs, with made-up real numbers replaced by integers where the code takes integers.

        Inputs are real if the settings say so, if their documented width is the number of rows, or if the model, its
        table repaired, takes them and refuses integers of the same shape.
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

    def _beyond_bound(self, call: PreparedCall, specs: dict[str, Spec], tables: list[nn.Embedding]) -> Verdict | None:
        """Confirmed if the code keeps all ids below the number of columns, and there are fewer rows."""
        columns = {table.embedding_dim for table in tables}
        for name, spec in specs.items():
            if spec.kind == "ids":
                seen = [self.run(call, specs, tables, fills={name: fill})[0] for fill in _ENORMOUS]
                is_bounded = all(watch.highest is not None and {watch.highest + 1} == columns for watch in seen)
                if is_bounded and all(watch.is_outside and not watch.is_input for watch in seen):
                    detail = f"however large `{name}` are, the code keeps them below the number of columns"
                    return self._confirm(call, specs, f"{detail}: {seen[0].fact}")
        return None

    def _beyond_vocabulary(
        self, call: PreparedCall, specs: dict[str, Spec], tables: list[nn.Embedding]
    ) -> Verdict | None:
        """Confirmed if the number of rows is a width, and the model's vocabulary can mean no table but this."""
        rows = {table.num_embeddings for table in tables}
        owner = getattr(call.function, "__self__", call.function)
        parts = owner.modules() if isinstance(owner, nn.Module) else ()
        others = {part.num_embeddings for part in parts if isinstance(part, nn.Embedding)} - rows
        sizes = names_in_call(self._session.source().tree, self._spot)
        if not any(call.inputs.named.states(name) in rows for name in sizes) or any(map(roles.counts_ids, sizes)):
            return None
        for name, spec in specs.items():
            if spec.declared is not None and spec.declared[1] + 1 not in others:
                watch, _ = self.run(call, specs, tables, fills={name: spec.declared[1]})
                if watch.is_outside:
                    return self._confirm(call, specs, f"{spec.declared[2]}: {watch.fact}")
        return None

    def _failure(self, call: PreparedCall, specs: dict[str, Spec], repaired: _Repair | None) -> Exception | None:
        """The error of a call, with the table repaired if that is asked for; None if it gets through."""
        if repaired is not None:
            for module, name, table in call.tables:
                setattr(module, name, repaired(table))
        try:
            return self.run(call, specs, [])[1]
        finally:
            for module, name, table in call.tables:
                setattr(module, name, table)

    # -- ids that have no row -----------------------------------------------------------------------------------------

    def _ids(self, call: PreparedCall) -> Verdict | None:
        """Confirmed if ids that the code draws or writes are out of range."""
        for specs, watch, error in self.runs(call):
            if not watch.seen:
                if self._is_cut_beyond(call):
                    return self._ids(self.prepare(call.attempt))
                continue
            if watch.is_outside and not watch.is_input:
                return self._confirm(call, specs, self._fact(call, specs, watch))
            if isinstance(self._claim, LOOKUPS.ConstantOutside):
                continue
            failed = self._forced_run(call, specs, watch.rows)
            if failed is not None:
                return self._confirm(call, specs, self._fact(call, specs, failed))
            if error is None and self._cannot_fail(call, specs):
                return refuted(str(self.lookups(call, specs).here[0]))
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

    def _is_cut_beyond(self, call: PreparedCall) -> bool:
        """True if code slices more classes from the head's scores than it has with the present numbers."""
        return call.classes is not None and self._asked is not None and call.classes < self._asked

    def _forced_run(self, call: PreparedCall, specs: dict[str, Spec], rows: int | None) -> Watch | None:
        """A run with an id out of range: drawn, or passed as input where the code checks inputs. None if none is."""
        if isinstance(self._claim, LOOKUPS.GuardAdmits) and rows is not None:
            for name, spec in specs.items():
                if spec.kind == "ids":
                    watch, _ = self.run(call, specs, [], fills={name: rows})
                    if watch.is_outside:
                        return watch
        for trial in range(_TRIALS):
            if time.process_time() > self._end:
                return None
            target = rows if trial % 2 else None
            watch, _ = self.run(call, specs, [], modes=(Forced(trial // 2, target),), seed=trial)
            if watch.is_outside:
                return watch
        return None

    def _is_guarded(self, call: PreparedCall, specs: dict[str, Spec], rows: int) -> bool:
        """True if the last row can be looked up, and the code refuses or changes the next id."""
        given = [name for name, spec in specs.items() if spec.kind == "ids"]
        for name in given:
            last, failure = self.run(call, specs, [], fills={name: rows - 1})
            over, error = self.run(call, specs, [], fills={name: rows})
            if not (last.seen and failure is None and (is_refusal(error) or (over.seen and error is None))):
                return False
        if given:
            return True
        drawn = [self.run(call, specs, [], modes=(Forced(0, id_),))[1] for id_ in (rows - 1, rows)]
        return drawn[0] is None and is_refusal(drawn[1])

    def _cannot_fail(self, call: PreparedCall, specs: dict[str, Spec]) -> bool:
        """True if nothing was assumed, and the place looks up nothing but drawn ids that are in range."""
        if not call.attempt.is_certain or any(spec.kind == "ids" for spec in specs.values()):
            return False
        found = self.lookups(call, specs)
        drawn = all(lookup.ids.origin.startswith("a choice among") for lookup in found.here)
        return bool(found.here) and found.is_complete and drawn and not any(lookup.fails for lookup in found.here)

    def _fact(self, call: PreparedCall, specs: dict[str, Spec], watch: Watch) -> str:
        """The failing look-up in words, with the range of the ids if it is known."""
        failing = [lookup for lookup in self.lookups(call, specs).here if lookup.fails]
        return f"{failing[0]}; {watch.fact}" if failing else watch.fact

    def _confirm(self, call: PreparedCall, specs: dict[str, Spec], detail: str, device: str = "cpu") -> Verdict:
        call.attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})
        return confirmed(detail, device)


class _Projection(nn.Module):
    """The linear layer that should take features in place of a table; integers pass, too."""

    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        self.weight = table.weight

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return features.to(self.weight.dtype) @ self.weight


def _swap_sizes(table: nn.Embedding) -> nn.Module:
    return nn.Embedding(table.embedding_dim, table.num_embeddings)
