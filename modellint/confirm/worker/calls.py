"""Calls of a function with chosen inputs, and the look-ups, values, result or error of each call."""

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


def callables_of(
    session: Session, name: str, reasons: list[str], device: str = "cpu"
) -> Iterator[tuple[Callable[..., Any], Inputs]]:
    """The session's function, or its method on each object that could be built for it, with possible inputs.

    Errors of building are added to `reasons`; arguments that are devices are `device`.
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
    """One call: the look-ups at the watched place, and the values of the observed expression."""

    found: list[SeenLookup] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    result: Any = None
    error: Exception | None = None

    @property
    def failed(self) -> SeenLookup | None:
        """The look-up that torch refused; None if it refused none."""
        return next((lookup for lookup in self.found if lookup.error is not None), None)

    @property
    def passed(self) -> bool:
        """True if the watched place was reached, and no look-up failed there."""
        return bool(self.found) and self.failed is None

    @property
    def rows(self) -> int:
        return self.found[0].rows

    @property
    def highest(self) -> int:
        return self.found[0].high

    @property
    def sizes(self) -> list[int]:
        """The whole numbers among the observed values."""
        numbers = [v for v in self.values if isinstance(v, int) or (isinstance(v, torch.Tensor) and v.numel() == 1)]
        return [int(number) for number in numbers]

    @property
    def said(self) -> str:
        """The error of the failed look-up, or else of the call, in words; "" if there is none."""
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
        """Call it once; without a watched place, only look-ups in tables with the observed number of rows count."""
        run = self.run(specs)
        if self._lookup is None:
            run.found = [lookup for lookup in run.found if lookup.rows in run.sizes]
        return run

    def note(self, specs: Specs) -> None:
        """Add to the assumptions the inputs with which a fact was observed."""
        self.attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})


def lasting(specs: Specs, time: int) -> Specs:
    """The same inputs with sequences of another length."""
    return {name: replace(spec, time=time) for name, spec in specs.items()}


def with_positions(specs: Specs, names: list[str], **changes: Any) -> Specs:
    """The same inputs, where those of `names` become positions with other settings, such as another start."""
    return {name: replace(spec, kind="positions", **changes) if name in names else spec for name, spec in specs.items()}


def position_inputs(call: Call, specs: Specs, base: CallRun) -> list[str]:
    """The inputs that the ids of the look-up follow: shifting one of them shifts the ids."""
    names = []
    for name, spec in specs.items():
        if spec.kind not in ("positions", "ids") or TIME not in spec.shape:
            continue
        plain = base if spec.kind == "positions" else call.run_sized(with_positions(specs, [name]))
        moved = call.run_sized(with_positions(specs, [name], start=1))
        if plain.found and moved.found and moved.highest == plain.highest + 1:
            names.append(name)
    return names


def is_refusal(error: BaseException | None) -> bool:
    """True if user code raised the error itself by `raise` or `assert`, rather than an operation that failed."""
    if error is None or error.__traceback__ is None:
        return False
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    code = last.tb_frame.f_code
    is_library = "site-packages" in code.co_filename or os.sep + "worker" + os.sep in code.co_filename
    return not is_library and dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS"
