"""ML104: a constant id that the table it indexes has no row for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.size import excess, is_proved
from modellint.link.facts import FactKind
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.link.arrivals import Arrival
    from modellint.link.project import Project


class ConstantIdOutsideTable(Rule):
    """A constant id lies outside of the table that it indexes

    ## What it does
    Compares `padding_idx` and the constants that are written into ids (`torch.full`, `new_full`, `F.pad`,
    `pad_sequence`, `masked_fill`) with the rows of the table that those ids look up.

    ## Why is this bad
    An id at or above the number of rows, or below zero, fails with `index out of range in self` on the CPU and with
    `device-side assert triggered` on a GPU, on the first batch that needs padding. `padding_idx=-1` is taken for the
    last row by the table alone: an id of -1 still has no row.

    ## How to fix
    Give the constant a row of its own (one more row), or use an id that the vocabulary has.

    ## References
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML104"
    name = "constant-id-outside-table"
    severity = Severity.ERROR
    triggers = ("torch", "mbedding")

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for function in module.all_functions():
            if "padding_idx" in function.text:
                yield from self._padding_index(function, project)
        for function in project.relevance.table_users(module):
            for arrival in project.arrivals.of(function):
                if arrival.fact.kind is FactKind.FILLER:
                    yield from self._filler(arrival, project)

    def _padding_index(self, function: Function, project: Project) -> Iterator[Finding]:
        frame = project.evaluator.root(function)
        module = function.module
        for event, table in project.tables.built_in(frame):
            if table.padding is None:
                continue
            rows = project.tables.rows(table)
            padding = project.evaluator.size(table.padding.value, table.padding.frame)
            if rows is None or padding is None:
                continue
            above, below = excess(padding, rows), padding.number
            too_high = above is not None and above >= 0
            too_low = below is not None and rows.number is not None and below < -rows.number
            if not too_high and not too_low:
                continue
            yield self.finding(
                module.place(event.value),
                f"`padding_idx` is {padding}, which a table of {rows} rows does not have",
                symbol=module.text_of(event.value.callee),
                confidence=Confidence.HIGH if is_proved(padding, rows) else Confidence.MEDIUM,
                evidence=(f"the rows are 0 to {rows} - 1",),
                related=(Related(table.padding.frame.module.place(table.padding.value), "the constant"),),
                help="add a row for the padding, or pad with an id of the vocabulary",
            )

    def _filler(self, arrival: Arrival, project: Project) -> Iterator[Finding]:
        number, table = arrival.fact.number, arrival.lookup.table
        if table is None or number is None or number < -1:
            return
        rows = project.tables.rows(table)
        if number >= 0 and (rows is None or rows.number is None or number < rows.number):
            return
        origin = arrival.fact.origin
        constant = origin.frame.module.text_of(origin.value)
        shown = constant if constant == str(number) else f"{constant} = {number}"
        what = "no row is negative" if number < 0 else f"the table has {rows} rows"
        proved = number < 0 or (rows is not None and rows.constant is not None)
        confidence = Confidence.HIGH if proved else Confidence.MEDIUM
        yield self.finding(
            table.frame.module.place(table.call),
            f"ids are filled with `{shown}`, which this table has no row for",
            symbol=table.frame.module.text_of(table.call.callee),
            confidence=Confidence.LOW if arrival.conditional else confidence,
            evidence=(what,),
            related=(
                Related(origin.frame.module.place(origin.value), "the constant is written here"),
                Related(arrival.frame.module.place(arrival.event.value), "the ids are looked up here"),
            ),
            help="fill with an id that has a row, and mask those elements instead",
        )
