"""Fillers that are no id: the lengths at which a look-up of them fails or takes a wrong row."""

from __future__ import annotations

import ast
import inspect
import types
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from .beside import CLAIMS
from .calls import Call, CallRun, lasting
from .lookups import SeenLookups
from .places import Spot, expression, is_written_out
from .specs import TIME
from .standins import described
from .verdicts import Verdict, confirmed, refuted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from modellint.claims.positions import NegativeFiller

    from .calls import Specs
    from .lookups import SeenLookup
    from .session import Session

#: The longest sequences that are tried.
_LIMIT = 5000


class Sentinel:
    """A finding about a filler: its look-up is known, or found by passing the function's result on."""

    def __init__(self, session: Session, claim: NegativeFiller, reasons: list[str]) -> None:
        self._session = session
        self._users = session.users
        self._spot = Spot.of(claim.place)
        self._lookup = Spot.of(claim.lookup) if claim.lookup is not None else None
        #: The name of the function that looks the filler up.
        self._user = CLAIMS.name_at(claim, claim.lookup) if claim.lookup is not None else ""
        self._reasons = reasons

    def judge(self, call: Call, specs: Specs, base: CallRun) -> Verdict | None:
        """The verdict of a call; None if it decides nothing."""
        filler = _filler(base)
        if filler is not None and filler >= 0 and is_written_out(self._session.load(self._spot.path).tree, self._spot):
            return refuted(f"what is filled in is {filler}, the id of a row")
        if _filler_lookup(base, filler) is not None:
            runs = [(length, call.run(lasting(specs, length))) for length in _lengths(filler)]
            return self._verdict(call, specs, filler, [*runs, (TIME, base)])
        if base.found and self._lookup is not None:
            self._reasons.append("the filler does not get as far as the lookup")
        if base.error is not None or filler is None:
            return None
        if any(bool((part == filler).any()) for _, part in _integers(base.result)):
            return self._handed_on(call, specs, filler, base)
        self._reasons.append("what it returns has no filler in it")
        return None

    def _verdict(
        self, call: Call, specs: Specs, filler: int | None, runs: list[tuple[int, CallRun]], who: str = ""
    ) -> Verdict | None:
        """The verdict of the first length that fails and the first that passes; None if no run met the filler."""
        seen = [(n, lookup) for n, run in runs if (lookup := _filler_lookup(run, filler)) is not None]
        failed = next(((n, lookup) for n, lookup in seen if lookup.error is not None), None)
        passed = next(((n, lookup) for n, lookup in seen if lookup.error is None), None)
        facts = []
        if failed is not None:
            facts.append(f"length {failed[0]} fails ({failed[1]}): {described(failed[1].error or Exception())[:200]}")
        if passed is not None:
            row = passed[1].low % passed[1].rows
            facts.append(f"length {passed[0]} passes, and takes row {row} of {passed[1].rows} for {passed[1].low}")
        if not facts:
            return None
        call.note(specs)
        return confirmed(f"{who}{'; '.join(facts)}")

    # -- what is done with the result ---------------------------------------------------------------------------------

    def _handed_on(self, call: Call, specs: Specs, filler: int, base: CallRun) -> Verdict | None:
        """The verdict of passing the result to its users; without any, of a look-up in a table of positions."""
        if not self._users and self._lookup is None:
            return self._outside(call, specs, filler)
        looked_up = self._in_function(call, specs, filler)
        if looked_up is not None:
            return looked_up
        for cls in self._layers(base.result, filler):
            outcome = self._given_to(cls, call, specs, filler)
            if outcome is not None:
                return outcome
        self._reasons.append(f"it returns ids of which some are {filler}, and no layer was found that takes them")
        return None

    def _outside(self, call: Call, specs: Specs, filler: int) -> Verdict | None:
        """The verdict of a table with one row for each position, which has none for the filler."""
        runs = []
        for length in _lengths(filler):
            positions = self._positions(call, specs, length, filler)
            if positions is not None:
                runs.append((length, _in_table(positions)))
        return self._verdict(call, specs, filler, runs, "looked up in a table with a row for each position, ")

    def _positions(self, call: Call, specs: Specs, length: int, filler: int) -> torch.Tensor | None:
        """The positions returned for sequences of some length, with the filler among them; None without a filler."""
        result = call.run(lasting(specs, length)).result
        return next((part for _, part in _integers(result) if _count_up(part, filler)), None)

    def _in_function(self, call: Call, specs: Specs, filler: int) -> Verdict | None:
        """The verdict of the function with the look-up, called with the positions and a table with a row for each."""
        function, names = self._looking_up()
        if function is None:
            return None
        parameters = inspect.signature(function).parameters.values()
        others = [one.name for one in parameters if one.name not in names and one.default is one.empty]
        runs = []
        for length in _lengths(filler):
            positions = self._positions(call, specs, length, filler)
            if positions is not None:
                table = torch.zeros(int(positions.max()) + 1, 1)
                given = {**dict.fromkeys(others), names[0]: table, names[1]: positions}
                runs.append((length, _looked_up(function, given, self._lookup)))
        return self._verdict(call, specs, filler, runs, f"`{function.__name__}` with a row for each position: ")

    def _looking_up(self) -> tuple[Any, list[str]]:
        """The function of a file whose parameters meet at the lookup, and the names of the table and the index."""
        if self._lookup is None:
            return None, []
        source = self._session.load(self._lookup.path)
        met = expression(source.tree, self._lookup)
        around = next((one for one in source.tree.body if getattr(one, "name", None) == self._user), None)
        if not isinstance(met, ast.Subscript) or not isinstance(around, ast.FunctionDef):
            return None, []
        names = [part.id for part in (met.value, met.slice) if isinstance(part, ast.Name)]
        if len(names) < 2 or not set(names) <= {argument.arg for argument in around.args.args}:
            return None, []
        return source.find(around.name), names

    def _layers(self, result: Any, filler: int) -> Iterator[type]:
        """The layers in the users' modules whose `forward` has a parameter for a result with the filler, by its key."""
        filled = [name for name, part in _integers(result) if name and bool((part == filler).any())]
        for path in self._users:
            for value in list(vars(self._session.load(path).module).values()):
                if not isinstance(value, type) or not issubclass(value, nn.Module):
                    continue
                if value.__module__.partition(".")[0] == "torch":
                    continue
                forward: Any = inspect.getattr_static(value, "forward")
                parameters = inspect.signature(forward).parameters
                if any(name in parameters for name in filled):
                    yield value

    def _given_to(self, cls: type, call: Call, specs: Specs, filler: int) -> Verdict | None:
        """The verdict of one of these layers, called with results of several lengths."""
        module = inspect.getmodule(cls)
        path = getattr(module, "__file__", None)
        if not isinstance(module, types.ModuleType) or path is None:
            return None
        for attempt in self._session.attempts(cls.__name__, source=self._session.load(path)):
            try:
                layer = Call(attempt, "forward", self._lookup, self._session.observed)
            except Exception as error:
                self._reasons.append(f"building `{cls.__name__}`: {described(error)}")
                continue
            known = inspect.signature(layer.function).parameters
            runs = []
            for length in _lengths(filler):
                result = call.run(lasting(specs, length)).result
                given = {name: value for name, value in result.items() if name in known}
                runs.append((length, layer.run({}, given)))
            outcome = self._verdict(layer, specs, filler, runs, f"`{cls.__name__}` is given what it returns: ")
            if outcome is not None:
                return outcome
            self._reasons.append(f"`{cls.__name__}`: {runs[0][1].said or 'it looks nothing up with the filler'}")
        return None


def _filler(run: CallRun) -> int | None:
    """The filler as it was observed where it is written; None if no number was seen."""
    numbers = [value for value in run.values if type(value) in (int, float)]
    return int(numbers[-1]) if numbers else None


def _lengths(filler: int | None) -> list[int]:
    """Lengths just below, at and above minus the filler; none if that is too long."""
    size = 0 if filler is None else -filler
    return [size - 1, size, size + 1] if 1 < size < _LIMIT else []


def _is_filled(lookup: SeenLookup, filler: int | None) -> bool:
    """True if a look-up met the filler, and all other ids have a row."""
    return lookup.high < lookup.rows and (lookup.low == filler if filler is not None else lookup.low < -1)


def _count_up(part: torch.Tensor, filler: int) -> bool:
    """True if the values beside the filler count up: 0, 1, 2 and so on."""
    kept = part[part != filler].unique().tolist()
    return len(kept) < part.numel() and len(kept) > 2 and kept == list(range(len(kept)))


def _filler_lookup(run: CallRun, filler: int | None) -> SeenLookup | None:
    """The look-up that met the filler, one that failed first; None if none met it."""
    found = [lookup for lookup in run.found if _is_filled(lookup, filler)]
    return next((lookup for lookup in found if lookup.error is not None), next(iter(found), None))


def _integers(result: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """The integer tensors in a result, each with the key it has there."""
    named: Mapping[str, Any] = result if isinstance(result, dict) else {}
    parts = list(named.items()) or [("", part) for part in (result if isinstance(result, tuple | list) else [result])]
    for name, part in parts:
        if isinstance(part, torch.Tensor) and not part.dtype.is_floating_point and part.dtype is not torch.bool:
            yield str(name), part


def _in_table(positions: torch.Tensor) -> CallRun:
    """A lookup of positions in a table that has as many rows as there are positions."""
    return _looked_up(lambda table: table[positions], {"table": torch.arange(max(1, int(positions.max()) + 1))}, None)


def _looked_up(function: Callable[..., Any], given: dict[str, Any], spot: Spot | None) -> CallRun:
    """Call a function and record its look-ups at a place, or everywhere without one; its result is ignored."""
    mode, run = SeenLookups(spot), CallRun()
    try:
        with torch.no_grad(), mode:
            function(**given)
    except Exception as error:
        run.error = error
    run.found = mode.found
    return run
