"""Evidence that the rows of an embedding are counted by features, and not by ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Related
from modellint.flow import queries
from modellint.graph.immutable import dataclass

from .shapes import (
    counts_ids,
    documented_shape,
    documents_ids,
    is_named,
    is_own_width,
    is_shared_shape,
    sharing,
)
from .swaps import Sign, swaps
from .table_users import indices, is_parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.size import Size
    from modellint.rule import Project

    from .held import Held
    from .layer_inputs import LayerCall
    from .sizing import Sizing


@dataclass(frozen=True)
class _Evidence:
    """One reason to believe that a table is sized by features."""

    text: str
    is_strong: bool
    related: Related | None = None


def sized_by_features(
    table: Held, rows: Size, sizing: Sizing, module: ModuleFacts, project: Project
) -> Iterator[_Evidence]:
    """Evidence that an index, or a layer beside the table, has as many features as the table has rows."""
    may_be_width, is_documented = sizing.may_be_width(table), _is_documented(rows, module, project)
    lookups = sizing.users.lookups(table) if may_be_width or is_documented or _is_square(table) else []
    if any(tensor.positions is not None for lookup in lookups for tensor in indices(lookup)):
        return
    yield from _real(table, rows, module, project)
    for lookup in lookups:
        yield from _documented_shapes(lookup, table, rows, project)
        yield from _fed_beside(lookup, rows, sizing)
    if any(map(_is_fed_ids, lookups)) and not _documents_ids(table, rows, sizing):
        yield from _shared_width(table, rows, sizing)
    if lookups:
        yield from _square(table, rows, sizing)


def _real(table: Held, rows: Size, module: ModuleFacts, project: Project) -> Iterator[_Evidence]:
    """Real numbers index a table, as many as it has rows along their last dimension."""
    for lookup in queries.flow(module, project).lookups_in(table.made):
        numbers = lookup.element
        is_same = lookup.width is not None and lookup.width == lookup.rows and not lookup.is_conditional
        if is_same and isinstance(numbers, queries.Real):
            made = Related(numbers.origin.place, "the features are made here")
            called = lookup.place.module.text_of(lookup.place.value)
            yield _Evidence(f"it is indexed by real numbers of width `{rows}`, in `{called}`", True, made)


def _is_documented(rows: Size, module: ModuleFacts, project: Project) -> bool:
    """True if the documented shape of a parameter in the file ends in the number of rows."""
    named = str(rows.only_symbol)

    def is_documented() -> bool:
        functions = (f for f in module.all_functions() if is_named(named, f))
        shapes = (documented_shape(f, parameter.name) for f in functions for parameter in f.parameters)
        return any(shape is not None and shape[-1:] == (named,) for shape in shapes)

    return rows.only_symbol is not None and project.once(("documented width", module.file, named), is_documented)


def _documented_shapes(lookup: LayerCall, table: Held, rows: Size, project: Project) -> Iterator[_Evidence]:
    """The documented shape of an index ends in the number of the table's rows.

    One who names the padding row has ids in mind, and a text that other classes share describes them all.
    """
    symbol, function = rows.only_symbol, lookup.root
    if table.has_padding or symbol is None:
        return
    for atom in lookup.given:
        shape = (
            documented_shape(function, atom.name)
            if isinstance(atom, queries.SymbolicInput) and is_parameter(atom)
            else None
        )
        if shape is not None and len(shape) > 1 and shape[-1] == str(symbol):
            name = getattr(atom, "name", "")
            yield _Evidence(
                f"`{function.name}` documents `{name}` as ({', '.join(shape)}): its last dimension is `{symbol}`",
                not is_shared_shape(shape, name, function, project),
                Related(lookup.call.place, f"`{name}` indexes the table here"),
            )


def _fed_beside(lookup: LayerCall, rows: Size, sizing: Sizing) -> Iterator[_Evidence]:
    """A layer takes the same tensor, with the same width, on a path that the lookup shares."""
    for use in sizing.users.fed_beside(lookup, rows):
        text = f"`{use.call.module.text_of(use.call.value)}` takes the same tensor with `{rows}` features"
        yield _Evidence(text, True, Related(use.call.place, "a layer takes the same tensor"))


#: The texts for each sign that the sizes have changed places, and for the place where it shows.
_SIGNS = {
    Sign.NAMES: ("by their names, `{columns}` is a number of ids and `{rows}` a width", ""),
    Sign.LIMIT: ("ids are kept below `{columns}`, the number of columns", "the ids are kept below it here"),
    Sign.WIDTH: ("`{columns}` counts ids, `{rows}` is the width of other parts", ""),
    Sign.TAKER: ("`{place}` takes rows of `{size}` numbers", "the rows are taken to be `{size}` wide here"),
}


def swapped_sizes(table: Held, sizing: Sizing) -> Iterator[_Evidence]:
    """Evidence that the first two arguments are swapped; names alone are no proof."""
    columns = "" if table.columns is None else table.columns.text
    for swap in swaps(table, sizing):
        place = "" if swap.site is None else swap.site.module.text_of(swap.site.value)
        text, message = (
            words.format(columns=columns, rows=table.rows.text, place=place, size=table.rows.size)
            for words in _SIGNS[swap.sign]
        )
        related = None if swap.site is None else Related(swap.site.place, message)
        yield _Evidence(text, swap.sign is not Sign.NAMES, related)
        if swap.sign is Sign.NAMES:
            yield _Evidence("ids are looked up in the table", False)


def _is_square(table: Held) -> bool:
    """True if a table has as many rows as columns, and neither is called a number of ids."""
    if table.columns is None or table.rows.size is None or not table.rows.size.symbols:
        return False
    return table.columns.size == table.rows.size and not counts_ids(table.rows) and not counts_ids(table.columns)


def _square(table: Held, rows: Size, sizing: Sizing) -> Iterator[_Evidence]:
    """The table has as many rows as columns, and other parts of the model are as wide."""
    if not _is_square(table):
        return
    if is_own_width(rows, table, sizing.holders) or sizing.holders.is_given_beside(rows, table):
        yield _Evidence(f"the table has as many rows as columns: `{rows}` is the width of its rows", False)
        yield _Evidence(f"other parts of the model are `{rows}` wide, and ids index the table", False)


def _is_fed_ids(lookup: LayerCall) -> bool:
    """True if all indices of a look-up are parameters or ids."""
    return all(
        isinstance(atom, queries.SymbolicInput) or (isinstance(atom, queries.Tensor) and atom.ids is not None)
        for atom in lookup.given
    )


def _documents_ids(table: Held, rows: Size, sizing: Sizing) -> bool:
    """True if the docstrings of the code that makes a table say that its rows are ids."""
    functions = {table.call.function, sizing.holders.constructor(table)}
    return any(documents_ids(rows.symbols, function) for function in functions if function is not None)


def _shared_width(table: Held, rows: Size, sizing: Sizing) -> Iterator[_Evidence]:
    """The number of rows is also the width of other layers, or of the model."""
    taken, own = sharing(table, sizing.holders)
    for other, what in ((taken, "the input width of"), (own, "the width of the model, as in")):
        site = None if other is None else other.layer.site
        if site is not None:
            text = f"`{rows}` is {what} `{site.module.text_of(site.value)}`"
            yield _Evidence(text, False, Related(site.place, f"`{rows}` is used as a width here"))
