"""ML303: a position table of a fixed length that is read for lengths that nothing compares with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.positions import TableEnds
    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project
    from modellint.probes import Probe

    from .position_tables import FixedTable


class UnguardedPositionTable(Rule):
    """A position table has a fixed length, and nothing compares it with the length of the input

    ## What it does
    Finds embeddings that are indexed by `arange(length)`, and buffers or parameters that are sliced up to a length,
    where that length is a dimension of the input, or a parameter that nothing in sight gives, the table is built once
    with a literal number of rows (or a default that something in sight leaves as it is), and no comparison, clamp or
    rebuild stands between them, in the layer or in what calls it.

    Also found is a comparison that falls short: the length is kept to the rows of the table, but more of them are read,
    since positions begin later than 0, or a token was put in front.

    ## Why is this bad
    A longer input than the table was built for fails deep inside of the model: `index out of range in self` from an
    embedding, a device-side assert on a GPU, or two tensors that do not fit together after a slice that came out short.

    ## How to fix
    Compare the length with the table and say what the limit is, build the table for the length that is needed, or make
    the limit a parameter that the model's users set.

    ## References
    - [DETR's learned position embeddings](https://github.com/facebookresearch/detr): 50 rows and 50 columns
    """

    code = "ML303"
    name = "unguarded-position-table"
    severity = Severity.INFO

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .position_tables import PositionTables

        for found in project.of(PositionTables).unguarded(module):
            yield self._report(found)

    def probe(self, claim: TableEnds, project: Project) -> Probe | None:
        """Run the function that reads the table for as many positions as it has rows, and for one more."""
        from modellint.probes import boundary_probe

        return boundary_probe(claim, [claim.lookup])

    def _report(self, found: FixedTable) -> Finding:
        from modellint.claims.positions import TableEnds

        table, use, size = found.table, found.use, found.rows
        length = found.length.module.text_of(found.length.value)
        text = table.module.text_of(table.value)
        place, lookup = table.place, use.place
        if found.is_compared and size is not None:
            return self._overrun(found, size.described)
        if size is None:
            rows, built = "as many rows as it is built with", f"only the constructor calls `{text}`"
        else:
            given = "" if size.constant is not None else f", the default of `{size}`,"
            rows, built = f"{size.number} rows", f"{size.number} rows{given} are built once"
        return self.finding(
            place,
            f"the table has {rows}, but is read for `{length}` positions, however many they are",
            symbol=text,
            confidence=Confidence.MEDIUM,
            evidence=(built, f"`{length}` is known only at run time, and neither compared nor limited"),
            related=(Related(lookup, "the table is read here"),),
            help="compare the length with the rows of the table, or build the table for the length",
            claim=TableEnds(place, lookup),
        )

    def _overrun(self, found: FixedTable, rows: str) -> Finding:
        """A finding about a table of which more is read than was compared with its rows."""
        from modellint.claims.positions import TableEnds

        table, use = found.table, found.use
        length = found.length.module.text_of(found.length.value)
        text = table.module.text_of(table.value)
        return self.finding(
            table.place,
            f"a length is compared with the {rows} rows of the table, but more of them are read",
            symbol=text,
            confidence=Confidence.MEDIUM,
            evidence=(f"what is read up to `{length}` begins later than 0, or is longer than what was compared",),
            related=(Related(use.place, "the table is read here"),),
            help="compare the last position with the rows of the table",
            claim=TableEnds(table.place, use.place),
        )
