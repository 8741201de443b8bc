"""ML104: a constant id that the table it indexes has no row for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits, operators
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.flow import queries
from modellint.graph.size import Size, excess, is_proved
from modellint.graph.value import same
from modellint.rule import Rule, python_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Probe, Project


class ConstantIdOutsideTable(Rule):
    """A constant id, such as `padding_idx`, has no row in its table

    ## What it does
    Compares `padding_idx` with the number of rows of its table. Compares the constants that are written into ids
    (`torch.full`, `new_full`, `F.pad`, `pad_sequence`, `masked_fill`, `torch.tensor([…])`, `ids[:, 0] = …`) with the
    rows of the table that those ids index.

    ## Why is this bad
    A valid id is at least 0 and less than the number of rows. Any other id fails on the first batch that contains it:
    with `index out of range in self` on the CPU and `device-side assert triggered` on a GPU.

    For a `padding_idx` that has no row, the constructor raises
    `AssertionError: Padding_idx must be within num_embeddings`. The constructor accepts `padding_idx=-1` as the last
    row, but an id of -1 still has no row. A constant below -1, such as -100, is a
    [negative sentinel](negative-sentinel-positions.md), which ML304 reports where it is written.

    ## How to fix
    Add a row for the constant, or use an id that already has a row:

    ```python
    nn.Embedding(vocab_size + 1, width, padding_idx=vocab_size)
    ```

    ## References
    - [torch.nn.Embedding](https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html)
    """

    code = "ML104"
    name = "constant-id-outside-table"
    severity = Severity.ERROR
    requires = ("constructed_anywhere", "lookups", "padded_tables")
    about = ("torch.nn.Embedding",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        flow = queries.flow(module, project)
        for made in flow.padded_tables():
            yield from self._padding_index(made)
        seen: set[object] = set()
        for lookup in flow.lookups():
            for finding in self._filler(lookup, project):
                key = finding.place, finding.message
                if key not in seen:
                    seen.add(key)
                    yield finding

    def probe(self, claim: claims.PaddingOutside | claims.ConstantOutside, project: Project) -> Probe | None:
        """Build the table, or run the function that looks the constant up."""
        return python_probe(claim, claim.lookup if isinstance(claim, claims.ConstantOutside) else None)

    def _padding_index(self, made: queries.PaddedTable) -> Iterator[Finding]:
        module, call = made.function.module, made.call
        rows, padding = queries.size_of(made.rows), queries.size_of(made.padding)
        constant, place = _padding_of(call) or call, module.place(call)
        if rows is None or padding is None:
            number = call.argument(0, "num_embeddings")
            if number is None or not same(constant, number):
                return
            shown = f"`{module.text_of(constant)}`"
            named, last, confidence = (shown, shown), f"`{module.text_of(constant)} - 1`", Confidence.HIGH
        else:
            if rows.number is not None and rows.number <= 0:
                return  # a number that stands for one that is not known yet
            above, below = excess(padding, rows), padding.number
            too_high = above is not None and above >= 0
            too_low = below is not None and rows.number is not None and below < -rows.number
            if not too_high and not too_low:
                return
            confidence = Confidence.HIGH if is_proved(padding, rows) else Confidence.MEDIUM
            named, last = (padding.described, rows.described), (rows - Size.of(1)).described
        written = _place_of_constant(queries.Site(constant, made.function), padding, module)
        yield self.finding(
            place,
            f"`padding_idx` is {named[0]}, but the table has {named[1]} rows",
            symbol=module.text_of(call.callee),
            confidence=confidence,
            evidence=(f"the last row is {last}",),
            related=(Related(written, "the constant is written here"),),
            help="add a row for the padding, or pad with an id of the vocabulary",
            claim=claims.PaddingOutside(place),
        )

    def _filler(self, lookup: queries.Lookup, project: Project) -> Iterator[Finding]:
        from .defaults import never_by_default

        filler, rows, table = lookup.element, lookup.rows, lookup.table
        if not isinstance(filler, queries.Filler) or not lookup.is_made:
            return
        size, origin = filler.size, filler.origin
        number = size.number
        if number is not None and number < -1:
            return  # ML304 reports it, at the filler
        is_negative = number == -1
        above = None if rows is None else excess(size, rows)
        if not is_negative and (above is None or above < 0):
            return
        constant = origin.module.text_of(origin.value)
        shown = constant if number is None or constant == str(number) else f"{constant} = {number}"
        what = "ids below 0 have no row" if is_negative else f"the table has {rows.described if rows else 'fewer'} rows"
        proved = size.constant is not None if is_negative else rows is not None and is_proved(size, rows)
        modules = dict.fromkeys((origin.module, table.module, *(step.module for step in lookup.steps)))
        if not proved and rows is not None and never_by_default(size, rows, modules, project):
            return
        confidence = Confidence.HIGH if proved else Confidence.MEDIUM
        place = table.place
        yield self.finding(
            place,
            f"ids are filled with `{shown}`, which this table has no row for",
            symbol=table.name,
            confidence=Confidence.LOW if lookup.is_conditional else confidence,
            evidence=(what,),
            related=(
                Related(_place_of_constant(origin, size, table.module), "the constant is written here"),
                Related(lookup.place.place, "the ids are looked up here"),
            ),
            help="fill with an id that has a row, and mask those elements",
            claim=claims.ConstantOutside(place, lookup.place.place),
        )


def _place_of_constant(at: queries.Site, size: Size | None, beside: ModuleFacts) -> Place:
    """The place of a constant: the default of the parameter that it is known by, in its file or the table's.

    If that is not in sight, the value that becomes an element.
    """
    for symbol in size.symbols if size is not None and len(size.symbols) == 1 else ():
        for function in (one for module in (at.module, beside) for one in module.all_functions()):
            if f"{function.module.path}:{function.qualname}" == symbol.owner:
                parameter = function.parameter(symbol.name)
                if parameter is not None and parameter.default is not None:
                    return function.module.place(parameter.default)
    if at.function is None:
        return at.place
    use, written = edits.constant_places(at.value, at.function, None if size is None else size.number)
    return written or use


def _padding_of(call: Value) -> Value | None:
    """The argument of a call that makes a table by which it names the row for padding."""
    return next((call.argument(*at) for at in operators.arguments("padding").values() if call.argument(*at)), None)
