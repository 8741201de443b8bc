"""ML103: ids drawn from a head with more classes than the table they index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.size import excess, is_proved
from modellint.graph.value import EventKind, Op
from modellint.link.facts import FactKind
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.graph.value import Value
    from modellint.link.arrivals import Arrival
    from modellint.link.evaluator import Frame
    from modellint.link.project import Project


class IdsExceedTable(Rule):
    """Ids come from a head with more classes than the table they look up has rows

    ## What it does
    Follows ids from where they are drawn (`argmax`, `multinomial`, `topk`, `Categorical.sample`) through lists,
    concatenation, returns and calls of other functions and files to where they index an embedding or a codebook, and
    compares the number of classes of the head with the number of rows of the table. It also finds a guard that lets
    one id too many through (`codes > rows`).

    ## Why is this bad
    A vocabulary is often padded, or has marks for the end of a stream. Sooner or later the head predicts one of those
    ids. On a GPU the lookup then fails with `device-side assert triggered`, at a line that has nothing to do with it.

    ## How to fix
    Cut the logits to the table's rows before drawing ids (`logits[..., :rows]`), drop the extra ids, or clamp them.
    A guard must reject the number of rows too: `codes >= rows`.

    ## References
    - mini-omni: a head over 4160 classes in front of a codec with 4096 rows
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML103"
    name = "ids-exceed-table"
    severity = Severity.ERROR
    triggers = ("torch", r"argmax|multinomial|topk|Categorical|generate|sample\(")

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for function in _drawing(module, project):
            for arrival in project.arrivals.of(function):
                if arrival.fact.kind is FactKind.IDS:
                    yield from self._too_many_classes(arrival, project)
            yield from self._wrong_guards(project.evaluator.root(function), project)

    def _too_many_classes(self, arrival: Arrival, project: Project) -> Iterator[Finding]:
        fact, table = arrival.fact, arrival.lookup.table
        if table is None or fact.bound is None or fact.changed:
            return
        rows = project.tables.rows(table)
        if rows is None:
            return
        extra = excess(fact.bound, rows)
        if extra is None or extra <= 0:
            return
        module = arrival.frame.module
        call = arrival.event.value
        name = module.text_of(call.args[0])
        confidence = Confidence.HIGH if is_proved(fact.bound, rows) else Confidence.MEDIUM
        related = [
            Related(table.frame.module.place(table.call), f"the table has {_count(rows)} rows"),
            Related(fact.origin.frame.module.place(fact.origin.value), "the ids are drawn here"),
        ]
        if fact.head is not None:
            place = fact.head.frame.module.place(fact.head.value)
            related.insert(1, Related(place, f"the head has {_count(fact.bound)} classes"))
        yield self.finding(
            module.place(call),
            f"`{name}` looks up ids of {_count(fact.bound)} classes in a table of {_count(rows)} rows",
            symbol=name,
            confidence=Confidence.LOW if arrival.conditional else confidence,
            evidence=_evidence(fact.bound, rows, arrival),
            related=related,
            help=f"cut the logits to {rows} classes before ids are drawn, or keep larger ids from the table",
        )

    def _wrong_guards(self, frame: Frame, project: Project) -> Iterator[Finding]:
        """`codes > rows` guards a table of `rows` rows: the id `rows` itself passes."""
        for index, event, table in project.arrivals.guarded_lookups(frame):
            rows = project.tables.rows(table)
            if rows is None:
                continue
            for compare in project.arrivals.comparisons(index, event):
                if _passes_one_too_many(compare, rows, frame, project):
                    yield self.finding(
                        frame.module.place(compare),
                        f"`{frame.module.text_of(compare)}` lets the id {_count(rows)} through to a table of"
                        f" {_count(rows)} rows",
                        symbol=frame.module.text_of(compare),
                        confidence=Confidence.HIGH,
                        evidence=(f"valid ids are 0 to {_last(rows)}",),
                        related=(
                            Related(frame.module.place(event.value), "the ids are looked up here"),
                            Related(table.frame.module.place(table.call), f"the table has {_count(rows)} rows"),
                        ),
                        help="compare with `>=` (or `<` where ids are kept)",
                    )


_SOURCES = ("argmax", "multinomial", "topk", "Categorical", "sample", "generate")


def _drawing(module: ModuleFacts, project: Project) -> list[Function]:
    """The functions of a file that draw ids, or use what does."""
    found = project.relevance.mentioning(module, _SOURCES)
    names = {function.name for function in found}
    return project.relevance.mentioning(module, (*_SOURCES, *names))


def _passes_one_too_many(compare: Value, rows: Size, frame: Frame, project: Project) -> bool:
    left, right = compare.args
    if compare.data in (">", "<="):
        limit = right
    elif compare.data in ("<", ">="):
        limit = left
    else:
        return False
    size = project.evaluator.size(limit, frame)
    if size is None or limit.op not in (Op.CONST, Op.ATTR, Op.GLOBAL, Op.PARAM):
        return False
    return excess(size, rows) == 0 and (is_proved(size, rows) or limit.op is Op.CONST)


def _count(size: Size) -> str:
    """A size for people: its number, and what it is called."""
    number = size.number
    if number is None or size.constant is not None:
        return str(size)
    return f"{number} (`{size}`)"


def _last(rows: Size) -> str:
    return str(rows.number - 1) if rows.number is not None else f"{rows} - 1"


def _evidence(bound: Size, rows: Size, arrival: Arrival) -> Iterator[str]:
    if bound.number is not None and rows.number is not None:
        yield f"ids go up to {bound.number - 1}, the last row is {rows.number - 1}"
    else:
        yield f"`{bound}` is larger than `{rows}`"
    if arrival.calls:
        steps = " → ".join(f"`{frame.module.text_of(call.callee)}`" for call, frame in arrival.calls)
        yield f"the ids reach the table through {steps}"
