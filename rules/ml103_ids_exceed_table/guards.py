"""Comparisons and clamps that keep ids from a table, and those that let one too many through."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from modellint import edits
from modellint.finding import Applicability, Edit, Fix, Place, Span
from modellint.flow import queries
from modellint.graph.size import excess, is_proved
from modellint.graph.value import EventKind

from .bounds import direct_limits, may_limit, may_look_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

    from .guarded import Clamped


def surplus(lookup: queries.Lookup) -> int | None:
    """The number of ids that have no row and that no test keeps away; None if there are none."""

    ids, rows = lookup.element, lookup.rows
    found = excess(ids.bound, rows) if isinstance(ids, queries.Ids) and rows is not None else None
    return found if isinstance(ids, queries.Ids) and found is not None and found > len(ids.excluded) else None


def rank(lookup: queries.Lookup) -> tuple[bool, int]:
    """The order of findings about one table at one place: ids that surely arrive first, and those closest to its rows.

    A container holds the later values of its elements, too: ids with an offset, say.
    """
    return lookup.is_conditional, surplus(lookup) or 0


def letting_through(ids: Clamped, module: ModuleFacts) -> queries.Site:
    """The place that lets ids through: the clamp, or the call that leads to one in another file or passes its limit."""
    is_here = ids.origin.module is module and not ids.is_told
    return ids.origin if ids.way is None or is_here else ids.way


def admits_rows(bound: Size, rows: Size) -> bool:
    """True if ids below a bound may be the number of rows, but no larger."""
    return excess(bound, rows) == 1 and (is_proved(bound, rows) or bound.number is not None)


def guarding_functions(module: ModuleFacts, project: Project) -> Iterator[Function]:
    """The functions of a file with tables that compare or clamp ids, and may look them up."""
    if may_look_up(module, project):
        from .guarded import clamping

        comparing = filter(may_limit, module.all_functions())
        limited = [f for f in comparing if any(_is_limited(event, module, project) for event in f.flow.events)]
        yield from dict.fromkeys([*limited, *clamping(module, project)])


def _is_limited(event: Event, module: ModuleFacts, project: Project) -> bool:
    """True if an event passes on a value, or indexes with one, that was compared before."""
    if event.kind is not EventKind.INDEX and (event.kind is not EventKind.CALL or len(event.value.args) < 2):
        return False
    return any(direct_limits(event.value.args[1], event, module, project))


#: The operator that rejects the number of rows, for each that lets it through.
EXACT = {">": ">=", "<=": "<", "<": "<=", ">=": ">"}


def made_exact(compare: Value, module: ModuleFacts) -> Fix | None:
    """The same comparison, with the operator that is right."""
    node = edits.written(compare, module)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    place = module.place(compare)
    left, right = edits.place_in(compare, node.left, module), edits.place_in(compare, node.comparators[0], module)
    between = Place(place.path, Span(left.span.end_line, left.span.end_column, right.span.line, right.span.column))
    operator = EXACT[compare.data]
    text = edits.text_at(between, module).replace(compare.data, operator, 1)
    return Fix(f"Compare with `{operator}`", Applicability.UNSAFE, (Edit(between, text),))
