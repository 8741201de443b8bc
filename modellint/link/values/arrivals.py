"""Where facts meet tables: which elements reach which lookup, through how many calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.graph.value import Event, EventKind, Op, Value
from modellint.link.values.facts import Fact, FactKind
from modellint.link.values.limits import is_tested
from modellint.link.values.torch_api import PASSED_BY_ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.link.values.evaluator import Evaluator, Frame
    from modellint.link.values.facts import FactFinder
    from modellint.link.values.tables import Lookup, Tables

_MAX_CALLS = 5
#: Values of whose elements a `FactFinder` knows nothing, or only which parameter they are.
_FACTLESS = frozenset((Op.PARAM, Op.GLOBAL, Op.LAMBDA, Op.CONST, Op.COMPARE, Op.BOOL, Op.STRING, Op.UNKNOWN))


@dataclass(eq=False, slots=True)
class Arrival:
    """Elements of which `fact` holds index the table of `lookup`.

    `event` is what the function under study does (it looks up, or calls what does); `calls` are the calls that lead
    from there to the lookup, outermost first, with the frame each stands in.
    """

    fact: Fact
    lookup: Lookup
    event: Event
    frame: Frame
    calls: tuple[tuple[Value, Frame], ...] = ()

    @property
    def conditional(self) -> bool:
        """Whether it depends on a condition that we cannot decide."""
        return self.fact.conditional

    @property
    def way(self) -> str:
        """What is called on the way to the lookup, as it is written; empty where the table is looked up on the spot."""
        return " → ".join(f"`{frame.module.text_of(call.callee)}`" for call, frame in self.calls)


class Arrivals:
    """Finds arrivals; one per project."""

    def __init__(self, evaluator: Evaluator, tables: Tables, finder: FactFinder) -> None:
        self.evaluator = evaluator
        self.tables = tables
        self.finder = finder
        self._relevance = evaluator.project.relevance
        self._reached: dict[Function, dict[str, list[tuple[Fact, Lookup]]]] = {}
        self._arrivals: dict[Function, list[Arrival]] = {}

    def of(self, function: Function) -> list[Arrival]:
        """The arrivals at what a function looks up or calls."""
        found = self._arrivals.get(function)
        if found is None:
            self.finder.start()
            frame = self.evaluator.root(function)
            found = self._arrivals[function] = list(self._in_frame(frame))
        return found

    def _in_frame(self, frame: Frame) -> Iterator[Arrival]:
        for lookup in self.tables.lookups(frame):
            for fact in self._at(lookup):
                yield Arrival(fact, lookup, lookup.event, frame)
        for event in frame.function.flow.of(EventKind.CALL):
            yield from self._through_call(event, frame)

    def _at(self, lookup: Lookup) -> Iterator[Fact]:
        """What is known of an index where it is looked up."""
        facts = self.finder.facts(lookup.index, lookup.frame)
        if facts and not is_tested(lookup.event.guard, lookup.index):
            yield from facts

    def _through_call(self, event: Event, frame: Frame) -> Iterator[Arrival]:
        call = event.value
        if all(_is_factless(arg) for arg in call.args[1:]):
            return
        if not self._relevance.may_reach_table(call, frame.module):
            return
        inner = self.evaluator.call_frame(call, frame)
        if inner is None:
            return
        reached = self.reached(inner.function)
        if not reached:
            return
        carried: dict[int, Fact] = {}
        for parameter in inner.function.parameters:
            if parameter.name not in reached:
                continue
            bound = self.evaluator.argument_named(parameter.name, inner)
            if bound is None:
                continue
            facts = self.finder.facts(bound.value, bound.frame)
            if facts and not is_tested(event.guard, bound.value):
                carried.update((id(f.origin.value), f) for f in facts if f.kind is not FactKind.PARAMETER)
        if carried:
            yield from self._descend(event, frame, inner, carried, ((call, frame),))

    def _descend(
        self,
        event: Event,
        outer: Frame,
        frame: Frame,
        carried: dict[int, Fact],
        calls: tuple[tuple[Value, Frame], ...],
    ) -> Iterator[Arrival]:
        """The lookups inside a called function that what we carry reaches."""
        for lookup in self.tables.lookups(frame):
            for fact in self._at(lookup):
                if id(fact.origin.value) in carried:
                    yield Arrival(fact, lookup, event, outer, calls)
        if len(calls) >= _MAX_CALLS:
            return
        for inner_event in frame.function.flow.of(EventKind.CALL):
            if not self._relevance.may_reach_table(inner_event.value, frame.module):
                continue
            inner = self.evaluator.call_frame(inner_event.value, frame)
            if inner is not None and self.reached(inner.function):
                further = (*calls, (inner_event.value, frame))
                yield from self._descend(event, outer, inner, carried, further)

    def reached(self, function: Function) -> dict[str, list[tuple[Fact, Lookup]]]:
        """Which parameters of a function reach a lookup, in it or in what it calls."""
        known = self._reached.get(function)
        if known is not None:
            return known
        reached: dict[str, list[tuple[Fact, Lookup]]] = {}
        self._reached[function] = reached
        if not self._relevance.may_look_up(function):
            return reached
        frame = self.evaluator.root(function)
        for lookup in self.tables.lookups(frame):
            for fact in self.finder.facts(lookup.index, frame):
                if fact.parameter is not None:
                    reached.setdefault(fact.parameter, []).append((fact, lookup))
        for event in function.flow.of(EventKind.CALL):
            if not event.value.args[1:] or not self._relevance.may_reach_table(event.value, frame.module):
                continue
            inner = self.evaluator.call_frame(event.value, frame)
            if inner is None:
                continue
            for name, found in self.reached(inner.function).items():
                bound = self.evaluator.argument_named(name, inner)
                if bound is None:
                    continue
                for fact in self.finder.facts(bound.value, bound.frame):
                    if fact.parameter is not None:
                        reached.setdefault(fact.parameter, []).extend((fact, lookup) for _, lookup in found[:1])
        return reached


def _is_factless(value: Value, depth: int = 3) -> bool:
    """Whether nothing is known of a value's elements, without following it: `x if x is not None else self.x`."""
    if value.op in _FACTLESS:
        return True
    if value.op is Op.CHOICE:
        return depth > 0 and all(_is_factless(arg, depth - 1) for arg in value.args)
    if value.op is not Op.ATTR or len(value.args) > 1:
        return False
    return value.data not in PASSED_BY_ATTRIBUTES and value.args[0].op is not Op.CALL
