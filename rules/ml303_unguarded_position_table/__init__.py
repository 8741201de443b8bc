"""ML303: a position table of a fixed length that is read for lengths that nothing compares with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, operators
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.rule import Rule, boundary_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.rule import Probe, Project

    from .position_tables import FixedTable


#: Names of functions that join tensors, and of what makes tables.
_JOINING = operators.words("joins", "grows")
_MAKING = operators.words("table") | {"Parameter", "register_buffer", "register_parameter"}


class UnguardedPositionTable(Rule):
    """Nothing compares the fixed rows of a position table with the input's length

    ## What it does
    Reports embeddings that `arange(length)` indexes, and buffers or parameters that are sliced up to a length, if

    - the code builds the table once, with a literal number of rows or with a default that no visible call changes
    - the length is a dimension of the input, or a parameter that no visible call sets
    - no comparison, clamp or rebuild comes between them, in the layer or in its callers

    Also reports a comparison that falls short: the code limits the length to the rows of the table, but reads more
    rows, because the positions start above 0 or because it prepends a token. RoBERTa's positions are an example:
    `torch.cumsum(mask, 1) * mask + padding_idx` needs `length + padding_idx + 1` rows. Also reports
    `x + self.table[x.shape[0]]`, which adds a single row where a slice is meant.

    ## Why is this bad
    An input that is longer than the table fails deep inside of the model. An embedding raises
    `IndexError: index out of range in self`, or a device-side assert on a GPU. A slice comes out short, and the
    addition after it raises `RuntimeError: The size of tensor a (10) must match the size of tensor b (12)`.

    ## How to fix
    Compare the length with the table, build the table for the length, or make the limit a parameter of the model:

    ```python
    if length > self.positions.num_embeddings:
        raise ValueError(f"at most {self.positions.num_embeddings} tokens, not {length}")
    ```

    ## References
    - [DETR's learned position embeddings](https://github.com/facebookresearch/detr): 50 rows and 50 columns
    """

    code = "ML303"
    name = "unguarded-position-table"
    severity = Severity.INFO
    requires = ("constructed", "may_keep_layers", "method", "mro")
    about = ("torch.Tensor",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .counting import lookups_beyond
        from .position_tables import PositionTables

        told = set()
        for cls in module.classes.values():
            for read in lookups_beyond(cls, project):
                if read.table.module is module and read.table.value not in told:
                    told.add(read.table.value)
                    yield self._beyond(read)
        for one in queries.tables_apart(module, project) if _may_put_in_front(module) else ():
            table = _table_of(one)
            if table.value not in told:
                told.add(table.value)
                yield self._apart(one, table)
        for found in project.of(PositionTables).unguarded(module):
            if found.table.value not in told:
                yield self._report(found)

    def probe(self, claim: claims.TableEnds | claims.RowsDiffer, project: Project) -> Probe | None:
        """Run the function that reads the table for as many positions as it has rows, and for one more.

        A subclass in another file may make the table of an inherited function: then its objects run that one.
        """
        return boundary_probe(claim, [claim.lookup], heir=claim.place)

    def _report(self, found: FixedTable) -> Finding:
        table, use, size = found.table, found.use, found.rows
        length = found.length.module.text_of(found.length.value)
        text = table.module.text_of(table.value)
        place, lookup = table.place, use.place
        if found.is_compared and size is not None:
            return self._overrun(found, size.described)
        if found.is_row:
            return self._single_row(found)
        if size is None:
            rows, built = "a fixed number of rows", f"only the constructor calls `{text}`"
        else:
            given = "" if size.constant is not None else f", the default of `{size}`"
            rows, built = f"{size.number} rows", f"the table is built once, with {size.number} rows{given}"
        lacking = (
            f"nothing limits the positions `{length}`"
            if found.is_total
            else (f"the code reads `{length}` rows without a check")
        )
        return self.finding(
            place,
            f"the table has {rows}, but {lacking}",
            symbol=text,
            confidence=Confidence.MEDIUM,
            evidence=(built, f"`{length}` is known only at run time, and nothing compares or limits it"),
            related=(Related(lookup, "the table is read here"),),
            help="compare the length with the rows of the table, or build the table for the length",
            claim=claims.TableEnds(place, lookup),
        )

    def _beyond(self, read: queries.TableRead) -> Finding:
        """A finding about a table of which more positions are looked up than there are rows, in each call.

        For a running total, in calls with inputs that are as long as the code lets them be.
        """
        table, rows = read.table, read.rows
        assert rows is not None
        counted = read.length.module.text_of(read.length.value)
        claim = claims.RowsDiffer if read.ahead is None else claims.TableEnds
        return self.finding(
            table.place,
            f"the table has {rows.described} rows, but the positions of `{counted}` go beyond them",
            symbol=table.module.text_of(table.value),
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            evidence=(
                "both numbers are known before any input is"
                if read.ahead is None
                else "the code cuts its input to the number of rows, or nearly so, but the first position is above 0",
            ),
            related=(Related(read.use.place, "the table is read here"), Related(read.length.place, "the positions")),
            help="give the table a row for each position"
            + ("" if read.ahead is None else ", or cut the input shorter"),
            claim=claim(table.place, read.use.place),
        )

    def _apart(self, one: queries.RefusedOperation, table: queries.Site) -> Finding:
        """A finding about a table with another number of rows than there are patches, and what stands before them."""
        apart = 0 if one.given is None else one.given.constant or 0
        count = f"{abs(apart)} {'more' if apart > 0 else 'fewer'}"
        return self.finding(
            table.place,
            f"the table has a row for each patch of the input, but the code reads it for {count}"
            if apart > 0
            else f"the table has {-apart} more rows than the input has patches",
            symbol=table.module.text_of(table.value),
            severity=Severity.INFO if one.is_tried else Severity.WARNING,
            confidence=Confidence.MEDIUM,
            evidence=(f"an input of the size that the table is made for has {count} than it has rows",),
            related=tuple(
                Related(*place) for place in ((one.place, "the table is read here"),) if place[0] != table.place
            ),
            help="give the table a row for each token, also for those before the patches",
            claim=claims.RowsDiffer(table.place, one.place, apart) if apart else None,
        )

    def _single_row(self, found: FixedTable) -> Finding:
        """A finding about a table of which the row behind a length is added to a tensor of that length."""
        table, use = found.table, found.use
        length = found.length.module.text_of(found.length.value)
        return self.finding(
            use.place,
            f"the code adds the row `{length}` of the table to each of the `{length}` positions",
            symbol=use.name,
            confidence=Confidence.MEDIUM,
            evidence=("all positions get one row, and an input as long as the table has none",),
            related=(Related(table.place, "the table"),),
            help=f"slice the table: `[:{length}]`",
            claim=claims.TableEnds(table.place, use.place),
        )

    def _overrun(self, found: FixedTable, rows: str) -> Finding:
        """A finding about a table of which more is read than was compared with its rows."""
        table, use = found.table, found.use
        length = found.length.module.text_of(found.length.value)
        text = table.module.text_of(table.value)
        return self.finding(
            table.place,
            f"the code compares a length with the {rows} rows of the table, but reads rows beyond that length",
            symbol=text,
            confidence=Confidence.MEDIUM,
            evidence=(f"the rows up to `{length}` start above 0, or are more than the length that the code compares",),
            related=(Related(use.place, "the table is read here"),),
            help="compare the last position with the rows of the table",
            claim=claims.TableEnds(table.place, use.place),
        )


def _may_put_in_front(module: ModuleFacts) -> bool:
    """True if functions of a file join tensors, and make tables or parameters."""
    words = frozenset[str]().union(*(function.words for function in module.all_functions()))
    names = words | {str(origin).rpartition(".")[2] for name, origin in module.imports.items() if name in words}
    return not names.isdisjoint(_JOINING) and not names.isdisjoint(_MAKING)


def _table_of(one: queries.RefusedOperation) -> queries.Site:
    """The call that makes a table in the same file; the operation itself if there is none."""
    made = [each.site for each in one.made if not each.is_left]
    sites = [site for site in (one.layer, *made) if site is not None and site.module is one.site.module]
    return sites[-1] if sites else one.site
