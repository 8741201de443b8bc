"""Signs that the sizes of a table have changed places: in their names, in its indices, and in the use of its rows."""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass

from .shapes import counts_anything, counts_ids, is_called_width, is_own_width, is_width
from .table_users import indices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow import queries

    from .held import Held, TableSize
    from .sizing import Sizing

#: Names of the width of a table's rows. `input_dim` or `width` may be the number of words, or of pixels.
_OWN_WIDTH = re.compile(
    r"(?<!\w)(?:\w*(?:emb|embed|embedding|embeddings|model|hidden|head)_(?:dim|size|channels)|d_model|dim)(?!\w)"
)


class Sign(Enum):
    """A sign that the sizes of a table have changed places."""

    NAMES = "names"  # both are called what the other one should be, and ids are looked up
    LIMIT = "limit"  # ids are kept below the number of columns
    WIDTH = "width"  # the columns count something, the rows are the width of other parts
    TAKER = "taker"  # what the table gives is taken for as wide as the table has rows


@dataclass(frozen=True, eq=False)
class Swap:
    """A sign, and where it shows: the operation that limits the ids, or the one that takes the rows."""

    sign: Sign
    site: queries.Site | None = None


def swaps(table: Held, sizing: Sizing) -> Iterator[Swap]:
    """The signs that the sizes of a table have changed places."""
    columns, rows = table.columns, table.rows
    if columns is None:
        return
    if _is_named_the_other_way(table, columns, sizing):
        yield Swap(Sign.NAMES)
    if rows.size is None or columns.size == rows.size:
        return

    @cache
    def has_width() -> bool:
        return columns.size is not None and is_own_width(columns.size, table, sizing.holders)

    if not counts_ids(rows):
        may_limit = columns.size is not None and sizing.may_limit(table) and not has_width()
        limit = _limit_of_ids(table, columns, sizing) if may_limit else None
        if limit is not None:
            yield Swap(Sign.LIMIT, limit)
        elif _is_width_of_others(table, columns, sizing):
            yield Swap(Sign.WIDTH)
    if sizing.may_be_given(table) and not has_width():
        taker = next((taken for taken in sizing.users.takers(table) if taken.width == rows.size), None)
        if taker is not None:
            yield Swap(Sign.TAKER, taker.taker)


def _is_named_the_other_way(table: Held, columns: TableSize, sizing: Sizing) -> bool:
    """True if a table that is looked up has rows named like a width, and columns named like a number of ids.

    It takes the names of both sizes; one alone is no sign.
    """
    if counts_ids(table.rows) or counts_anything(table.rows):
        return False
    if not counts_ids(columns) and not counts_anything(columns):
        return False
    if not _OWN_WIDTH.search(table.rows.names) or is_width(columns, table, sizing.holders):
        return False
    return bool(sizing.users.lookups(table))


def _is_width_of_others(table: Held, columns: TableSize, sizing: Sizing) -> bool:
    """True if the columns count something, and the rows are a width that other parts of the model have."""
    rows, number = table.rows.size, columns.size
    is_literal = number is not None and number.constant is not None and is_called_width(table.rows)
    is_vocabulary = counts_ids(columns)
    if rows is None or not (is_vocabulary or counts_anything(columns) or is_literal):
        return False
    if counts_anything(table.rows) or is_width(columns, table, sizing.holders):
        return False
    differ = is_vocabulary or is_literal or is_called_width(table.rows)
    is_shared = is_own_width(rows, table, sizing.holders) or (differ and sizing.holders.is_given_beside(rows, table))
    return is_shared and not sizing.users.is_transposed(table)


def _limit_of_ids(table: Held, columns: TableSize, sizing: Sizing) -> queries.Site | None:
    """The operation that keeps the indices of a table below its columns' number: `ids.clamp(max=n - 1)`, `ids % n`."""
    drawn = (tensor.ids for use in sizing.users.lookups(table) for tensor in indices(use) if tensor.ids is not None)
    return next((ids.origin for ids in drawn if ids.head is None and ids.bound == columns.size), None)
