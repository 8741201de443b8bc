"""ML304: a negative filler in ids that index a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.value import EventKind
from modellint.link.facts import FactKind
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.arrivals import Arrival
    from modellint.link.evaluator import Frame
    from modellint.link.facts import Fact
    from modellint.link.project import Project


class NegativeSentinelPositions(Rule):
    """Ids that index a table are padded with a negative sentinel

    ## What it does
    Finds a filler below -1, most often the label index that a loss ignores (-100), padded or filled into position ids
    or other ids that index an embedding, a cosine table or another tensor.

    ## Why is this bad
    A negative index counts from the end. With a table of 100 rows or more, -100 silently picks some other row; with
    fewer rows the lookup fails: `index -100 is out of bounds`, or a device-side assert on a GPU. Training runs until
    the first batch whose longest sequence is shorter than the sentinel is negative.

    ## How to fix
    Pad with 0 and let the attention mask hide the padding. Keep the sentinel for labels.

    ## References
    - VILA: position ids padded with `IGNORE_INDEX = -100`; dialogues below 100 tokens crash
    - [torch.nn.utils.rnn.pad_sequence](https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html)
    """

    code = "ML304"
    name = "negative-sentinel-positions"
    severity = Severity.ERROR
    triggers = ("import torch|from torch", r"pad_sequence|masked_fill|full\(|full_like\(|F\.pad\(|al\.pad\(|\.fill_\(")

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for function in project.relevance.mentioning(module, _FILLING):
            fillers = {id(fact.origin.value): (event, fact) for event, fact in _fillers(function, project)}
            if not fillers:
                continue
            reported: set[int] = set()
            for user in (function, *project.callers(function)):
                for arrival in project.arrivals.of(user):
                    origin = id(arrival.fact.origin.value)
                    if origin in fillers and origin not in reported and arrival.fact.kind is FactKind.FILLER:
                        reported.add(origin)
                        yield self._looked_up(arrival)
            for origin, (event, fact) in fillers.items():
                if origin not in reported and _pads_positions(event, function, project):
                    yield self._positions(event, fact)

    def _looked_up(self, arrival: Arrival) -> Finding:
        fact, frame = arrival.fact, arrival.lookup.frame
        origin = fact.origin
        module = origin.frame.module
        table = arrival.lookup.table
        index = frame.module.text_of(arrival.lookup.event.value)
        related = [Related(frame.module.place(arrival.lookup.event.value), f"`{index}` looks them up")]
        if table is not None:
            related.append(Related(table.frame.module.place(table.call), "in this table"))
        return self.finding(
            module.place(origin.value),
            f"ids are filled with {fact.number}, and `{index}` looks them up in a table",
            symbol=module.text_of(origin.value),
            confidence=Confidence.LOW if arrival.conditional else Confidence.HIGH,
            evidence=(_consequence(fact),),
            related=related,
            help="fill with 0 and let the attention mask hide those elements",
        )

    def _positions(self, event: Event, fact: Fact) -> Finding:
        module = fact.origin.frame.module
        return self.finding(
            module.place(fact.origin.value),
            f"positions are padded with {fact.number}",
            symbol=module.text_of(fact.origin.value),
            confidence=Confidence.MEDIUM,
            evidence=("what is padded counts up from 0 (`arange`): it indexes a position table", _consequence(fact)),
            related=(Related(module.place(event.value), "the padding"),),
            help="fill with 0 and let the attention mask hide those elements",
        )


#: What fills elements with a constant.
_FILLING = ("pad_sequence", "pad", "full", "full_like", "new_full", "fill_", "masked_fill", "masked_fill_")


def _names_sentinel(compare: Value, event: Event, frame: Frame, project: Project) -> bool:
    sentinels = {fact.number for fact in project.facts.fillers(event.value, frame)}
    for arg in compare.args:
        size = project.evaluator.size(arg, frame)
        if size is not None and size.number in sentinels:
            return True
    return False


def _consequence(fact: Fact) -> str:
    rows = -(fact.number or 0)
    return f"a table of fewer than {rows} rows has no row {fact.number}; a longer one gives a row from its end"


def _fillers(function: Function, project: Project) -> Iterator[tuple[Event, Fact]]:
    """The calls of a function that fill ids with a number below -1."""
    frame = project.evaluator.root(function)
    for event in function.flow.of(EventKind.CALL):
        for fact in project.facts.fillers(event.value, frame):
            if fact.number is not None and fact.number < -1:
                yield event, fact


def _pads_positions(event: Event, function: Function, project: Project) -> bool:
    frame = project.evaluator.root(function)
    if any(_names_sentinel(test.value, event, frame, project) for test in function.flow.of(EventKind.COMPARE)):
        # A comparison with the sentinel tells the padding apart again.
        return False
    facts = project.facts.facts(event.value, frame)
    return any(fact.kind is FactKind.POSITIONS and not fact.conditional for fact in facts)
