"""Calls of a function with chosen inputs, and what each of them looked up, computed, returned or raised."""

from __future__ import annotations

import dis
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from .inputs import Inputs
from .lookups import SeenLookups
from .seeds import seed_generators
from .specs import TIME, Spec
from .standins import described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .attempts import Attempt
    from .lookups import SeenLookup
    from .observed import Observed
    from .places import Spot
    from .session import Session

_LARGE = 200_000_000

Specs = dict[str, Spec]


def prepared(
    session: Session, name: str, reasons: list[str], device: str = "cpu"
) -> Iterator[tuple[Callable[..., Any], Inputs]]:
    """A function of the session's file, or a method on an object that was built for it, with its inputs.

    What keeps it from being built is added to `reasons`; arguments that are devices are `device`.
    """
    owner, method = session.source().split(name)
    for attempt in session.attempts(owner, device=device):
        try:
            built = attempt.build()
            function = getattr(built, method) if method else built
            inputs = Inputs(function, built, attempt)
        except Exception as error:
            reasons.append(f"building `{owner}`: {described(error)}")
            continue
        yield function, inputs


@dataclass
class CallRun:
    """One call: what was looked up at the place that is watched, and the values that the observed expression had."""

    found: list[SeenLookup] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    result: Any = None
    error: Exception | None = None

    @property
    def failed(self) -> SeenLookup | None:
        """The lookup that torch refused."""
        return next((lookup for lookup in self.found if lookup.error is not None), None)

    @property
    def passed(self) -> bool:
        """Whether the place was reached, and nothing failed there."""
        return bool(self.found) and self.failed is None

    @property
    def rows(self) -> int:
        return self.found[0].rows

    @property
    def highest(self) -> int:
        return self.found[0].high

    @property
    def sizes(self) -> list[int]:
        """The numbers among the values that were observed."""
        numbers = [v for v in self.values if isinstance(v, int) or (isinstance(v, torch.Tensor) and v.numel() == 1)]
        return [int(number) for number in numbers]

    @property
    def said(self) -> str:
        """What torch or Python says of the failure."""
        failed = self.failed
        error = self.error if failed is None else failed.error
        return "" if error is None else described(error)[:200]


class Call:
    """A function with the object that it belongs to, ready to be called."""

    def __init__(
        self, attempt: Attempt, method: str, lookup: Spot | None, observed: Observed, spot: Spot | None = None
    ) -> None:
        """`lookup` is the place to watch, `spot` the expression to observe. Raises what building raises.

        Without a place, every lookup is watched.
        """
        self.attempt = attempt
        self.owner = attempt.build()
        self.function: Callable[..., Any] = getattr(self.owner, method) if method else self.owner
        if isinstance(self.owner, nn.Module):
            self.owner.eval()
        self._lookup = lookup
        self._spot = spot
        self._observed = observed

    def inputs(self, *, is_full: bool = False) -> Inputs:
        return Inputs(self.function, self.owner, self.attempt, is_full=is_full)

    def run(self, specs: Specs, given: Mapping[str, Any] | None = None) -> CallRun:
        """Call it once; `given` are arguments that no `Spec` describes."""
        run = CallRun()
        if sum(torch.Size(spec.sizes).numel() for spec in specs.values() if spec.sizes) > _LARGE:
            run.error = MemoryError("the inputs would be too large")
            return run
        seed_generators(0)
        arguments = {name: spec.make("cpu") for name, spec in specs.items()} | dict(given or {})
        self._observed.forget()
        mode = SeenLookups(self._lookup)
        try:
            with torch.no_grad(), mode:
                run.result = self.function(**arguments)
        except Exception as error:
            run.error = error
        run.found = mode.found
        run.values = [] if self._spot is None else list(self._observed.values(self._spot))
        return run

    def run_sized(self, specs: Specs) -> CallRun:
        """Call it once; where no place is watched, what counts are tables of as many rows as the expression says."""
        run = self.run(specs)
        if self._lookup is None:
            run.found = [lookup for lookup in run.found if lookup.rows in run.sizes]
        return run

    def note(self, specs: Specs) -> None:
        """Say with which inputs a fact was observed."""
        self.attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})


def lasting(specs: Specs, time: int) -> Specs:
    """The same inputs with sequences of another length."""
    return {name: replace(spec, time=time) for name, spec in specs.items()}


def changed(specs: Specs, names: list[str], **changes: Any) -> Specs:
    """The same inputs with positions, those of `names`, that are made in another way."""
    return {name: replace(spec, kind="positions", **changes) if name in names else spec for name, spec in specs.items()}


def position_inputs(call: Call, specs: Specs, base: CallRun) -> list[str]:
    """The inputs that the ids of the lookup follow: those that move it when they are moved."""
    names = []
    for name, spec in specs.items():
        if spec.kind not in ("positions", "ids") or TIME not in spec.shape:
            continue
        plain = base if spec.kind == "positions" else call.run_sized(changed(specs, [name]))
        moved = call.run_sized(changed(specs, [name], start=1))
        if plain.found and moved.found and moved.highest == plain.highest + 1:
            names.append(name)
    return names


def is_refusal(error: BaseException | None) -> bool:
    """Whether the code itself says no: a `raise` or an `assert` in it, not an operation that failed."""
    if error is None or error.__traceback__ is None:
        return False
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    code = last.tb_frame.f_code
    is_library = "site-packages" in code.co_filename or os.sep + "worker" + os.sep in code.co_filename
    return not is_library and dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS"
