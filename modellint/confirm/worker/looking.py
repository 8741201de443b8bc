"""Runs of the function that a finding about a look-up names: on real tensors, or on tensors without data."""

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

from . import roles
from .beside import LOOKUPS
from .forced import Ended
from .inputs import Inputs
from .intervals import Intervals, ReadNumbers
from .making import seeing
from .operators import RULES
from .places import Spot, expression, innermost
from .seeds import seed_generators
from .specs import Spec
from .standins import described
from .surroundings import Codec, Cuts, widened
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
    from .ranges import RangeLookup
    from .session import Session

    Looking = SizedByWidth | FedNumbers | IdsExceed | GuardAdmits | PaddingOutside | ConstantOutside

LARGE = 50_000_000
#: Seconds of processor time after which no further way to call a function is tried.
_PATIENCE = 25.0


@dataclass
class PreparedCall:
    """A function with an object that it belongs to, ready to be called."""

    attempt: Attempt
    function: Callable[..., Any]
    inputs: Inputs
    #: The tables made at the place of the finding, each with its module and its name there.
    tables: list[tuple[nn.Module, str, nn.Embedding]]
    #: The number of classes of the head that the finding names.
    classes: int | None = None


@dataclass
class KnownLookups:
    """The look-ups at a place with a known range; whether the call ended, and whether numbers were read."""

    here: list[RangeLookup]
    is_complete: bool
    were_read: bool


class LookupRuns:
    """The calls of the function that a finding is about, with one choice of assumed numbers."""

    def __init__(self, session: Session, claim: Looking, variant: int) -> None:
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
        #: The number of classes asked for by code that slices the head's scores.
        self._asked: int | None = None
        self._reasons: list[str] = []
        self._end = time.process_time() + _PATIENCE

    def prepare(self, attempt: Attempt) -> PreparedCall:
        """Build the object and its inputs. Raises the errors of building."""
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
        return PreparedCall(attempt, function, inputs, tables, classes)

    def _receiver(self) -> str:
        """The name of the object whose method is called at the place."""
        found = expression(self._session.source().tree, self._spot)
        while isinstance(found, ast.Call | ast.Attribute):
            found = found.func if isinstance(found, ast.Call) else found.value
        return getattr(found, "id", "")

    def reduced(self, attempt: Attempt, size: int) -> int:
        """Reduce the numbers that make a model large; gives its parameters then, or as before if it stays too large."""
        builder, kept = attempt.builder, dict[str, int]()
        for name, small in list(builder.sizes.items()):
            builder.reduced = {name: small}
            with contextlib.suppress(Exception):
                if roles.is_heads(name) or parameters_of(self.prepare(attempt)) < size:
                    kept[name] = small
        builder.reduced = kept
        reduced = size
        with contextlib.suppress(Exception):
            reduced = parameters_of(self.prepare(attempt))
        if reduced > LARGE:
            builder.reduced = {}
        return min(reduced, size)

    def runs(
        self, call: PreparedCall, tables: list[nn.Embedding] | None = None
    ) -> Iterator[tuple[dict[str, Spec], Watch, Exception | None]]:
        """Calls with one choice of inputs after the other."""
        for specs in call.inputs.combinations():
            if time.process_time() > self._end:
                return
            watch, error = self.run(call, specs, tables or [])
            yield specs, watch, error
            if error is not None and watch.error is None:
                self._reasons.append(f"calling `{self._owner}`: {described(error)[:200]}")
                call.inputs.learn(error, specs)

    def run(
        self,
        call: PreparedCall,
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
        seed_generators(seed)
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

    def lookups(self, call: PreparedCall, specs: dict[str, Spec]) -> KnownLookups:
        """The look-ups at the place, as ranges."""
        intervals = Intervals(RULES)
        spot, here = self._lookup, set[str]()

        def where() -> str:
            frame = inspect.currentframe()
            if spot.is_running(frame):
                here.add(place := innermost(frame))
                return place
            return ""

        intervals.where = where
        watch, error = self.run(call, specs, [], modes=(intervals, ReadNumbers(intervals)), intervals=intervals)
        found = [lookup for lookup in intervals.lookups if lookup.operator.partition(": ")[0] in here]
        return KnownLookups(found, error is None and watch.seen, intervals.were_read)


def parameters_of(call: PreparedCall) -> int:
    """The number of elements in the parameters of the callee's module, and of modules among its inputs."""
    modules = [getattr(call.function, "__self__", None)]
    modules += [spec.value for specs in call.inputs.candidates.values() for spec in specs]
    return sum(p.numel() for module in modules if isinstance(module, nn.Module) for p in module.parameters())


def _noting_tables(spot: Spot, made: list[nn.Embedding]) -> AbstractContextManager[None]:
    """Note the tables that are made at a place."""
    return seeing(nn.Embedding, lambda table, frame: made.append(table) if spot.is_running(frame) else None)
