"""The sizes of a table that have changed places: by what they are called, and by the ids that the table is given."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from modellint.graph.value import Op, walk_all
from modellint.link.values.bounds import upper_limit
from modellint.link.values.evaluator import Located
from modellint.link.values.shapes import (
    counts_anything,
    counts_ids,
    is_called_width,
    is_own_width,
    is_shared,
    is_width,
)
from modellint.link.values.table_users import is_called, is_transposed, users
from modellint.link.values.torch_api import CLAMPS, PASSED_BY_METHODS
from modellint.link.values.widths import takers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.size import Size
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project
    from modellint.link.values.evaluator import Frame
    from modellint.link.values.tables import Table

#: What the width of what a table gives is called. `input_dim` or `width` may be the number of words, or of pixels.
_OWN_WIDTH = re.compile(
    r"(?<!\w)(?:\w*(?:emb|embed|embedding|embeddings|model|hidden|head)_(?:dim|size|channels)|d_model|dim)(?!\w)"
)
_MAX_DEPTH = 8
#: A function that tells the bucket of a number is not longer than this.
_MAX_LINES = 200


class Sign(Enum):
    """What gives away that the sizes of a table have changed places."""

    NAMES = "names"  # both are called what the other one should be, and ids are looked up
    LIMIT = "limit"  # ids are kept below the number of columns
    WIDTH = "width"  # the columns count something, the rows are the width of other parts
    TAKER = "taker"  # what the table gives is taken for as wide as the table has rows


@dataclass(frozen=True, eq=False)
class Swap:
    """A sign, and where it is: the number that limits the ids, or what takes the rows."""

    sign: Sign
    located: Located | None = None


def swaps(event: Event, table: Table, rows: Size | None, frame: Frame, project: Project) -> Iterator[Swap]:
    """What says that the sizes of a table, built at `event`, have changed places; `rows` is None if it is not known."""
    if table.columns is None:
        return
    columns = project.evaluator.size(table.columns.value, table.columns.frame)
    if _is_named_the_other_way(table, table.columns, frame, project):
        yield Swap(Sign.NAMES)
    if rows is None or columns == rows:
        return
    if not counts_ids(table.rows):
        limit = None if columns is None else _limit_of_ids(table, columns, frame, project)
        if limit is not None:
            yield Swap(Sign.LIMIT, limit)
        elif _is_width_of_others(event, table, table.columns, rows, frame, project):
            yield Swap(Sign.WIDTH)
    if columns is None or not is_own_width(event, columns, frame, project):
        taker = next((taker for taker in takers(table, frame, project) if taker.width == rows), None)
        if taker is not None:
            yield Swap(Sign.TAKER, taker.located)


def _is_named_the_other_way(table: Table, columns: Located, frame: Frame, project: Project) -> bool:
    """Whether what ids are looked up in has as many rows as a width, and as many columns as there are ids.

    That goes by what both sizes are called; one name alone tells nothing.
    """
    if counts_ids(table.rows) or counts_anything(table.rows):
        return False
    if not counts_ids(columns) and not counts_anything(columns):
        return False
    if not _OWN_WIDTH.search(_text(table.rows)) or is_width(columns, frame, project):
        return False
    return is_called(table, frame, project)


def _is_width_of_others(
    event: Event, table: Table, columns: Located, rows: Size, frame: Frame, project: Project
) -> bool:
    """Whether the columns count something, and the rows are a width that other parts of the model have."""
    number = project.evaluator.size(columns.value, columns.frame)
    is_literal = number is not None and number.constant is not None and is_called_width(table.rows)
    is_vocabulary = counts_ids(columns)
    if not (is_vocabulary or counts_anything(columns) or is_literal):
        return False
    if is_transposed(table, frame, project) or is_width(columns, frame, project):
        return False
    differ = is_vocabulary or is_literal or is_called_width(table.rows)
    return is_own_width(event, rows, frame, project) or (differ and is_shared(event, rows, frame, project))


def _limit_of_ids(table: Table, columns: Size, frame: Frame, project: Project) -> Located | None:
    """The number that keeps what indexes a table below the number of its columns: `ids.clamp(max=n - 1)`, `ids % n`.

    A function of the project keeps its result below a parameter from which it takes 1, as `bucket(distance, n)` does.
    """
    for function in users(table, frame, project):
        outer = project.evaluator.root(function)
        for lookup in project.tables.lookups_in(table, function):
            for limit in _limits(lookup.index, outer, project):
                if project.evaluator.size(limit, outer) == columns:
                    return Located(limit, outer)
    return None


def _limits(index: Value, frame: Frame, project: Project, depth: int = 0) -> Iterator[Value]:
    """The numbers below which ids are kept, innermost last."""
    if depth > _MAX_DEPTH:
        return
    match index.op:
        case Op.BIN if index.data == "%":
            yield index.args[1]
        case Op.BIN if index.data in ("+", "-"):
            for arg in index.args:
                yield from _limits(arg, frame, project, depth + 1)
        case Op.CALL if index.callee.op is Op.ATTR and index.callee.data in CLAMPS:
            last = upper_limit(index, frame, project.evaluator)
            if last is not None and last.op is Op.BIN and last.data == "-" and last.args[1].data == 1:
                yield last.args[0]
            yield from _limits(index.callee.args[0], frame, project, depth + 1)
        case Op.CALL if index.callee.op is Op.ATTR and index.callee.data in PASSED_BY_METHODS:
            yield from _limits(index.callee.args[0], frame, project, depth + 1)
        case Op.CALL:
            inner = project.evaluator.call_frame(index, frame)
            if inner is not None and inner.caller is frame and _is_short(inner.function):
                for name, given in inner.arguments.items():
                    if _takes_one_from(name, inner.function):
                        yield given


def _takes_one_from(parameter: str, function: Function) -> bool:
    """Whether a function computes a parameter less 1."""
    values = walk_all(event.value for event in function.flow.events)
    less_one = (v.args[0] for v in values if v.op is Op.BIN and v.data == "-" and v.args[1].data == 1)
    return any(number.op is Op.PARAM and number.data == parameter for number in less_one)


def _is_short(function: Function) -> bool:
    return function.end_line - function.line < _MAX_LINES


def _text(number: Located) -> str:
    return number.frame.module.text_of(number.value)
