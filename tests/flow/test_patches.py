"""Sizes of an input cut into patches, against tables that have a row for each of them."""

from __future__ import annotations

import pytest

from modellint.flow.shapes.patches import rows_apart
from modellint.graph.size import Size, Symbol

ROWS, COLUMNS = (Size.symbol(Symbol("*input", name)) for name in ("image_2", "image_3"))
SIDE, HEIGHT, WIDTH, PATCH = (Size.symbol(Symbol("model", name)) for name in ("side", "height", "width", "patch"))
ONE = Size.of(1)


def windows(size: Size, patch: Size) -> Size:
    """The number of windows of a convolution whose stride is as long as its kernel."""
    return (size - patch).floor(patch) + ONE


@pytest.mark.parametrize(
    ("counted", "rows", "apart"),
    [
        (windows(ROWS, PATCH) * windows(COLUMNS, PATCH) + ONE, SIDE.floor(PATCH) * SIDE.floor(PATCH), 1),
        (windows(ROWS, PATCH) * windows(COLUMNS, PATCH), SIDE.floor(PATCH) * SIDE.floor(PATCH), 0),
        (ROWS.floor(PATCH) * COLUMNS.floor(PATCH) + Size.of(2), HEIGHT.floor(PATCH) * WIDTH.floor(PATCH), 2),
        (ROWS.floor(PATCH) * COLUMNS.floor(PATCH), HEIGHT.floor(PATCH) * WIDTH.floor(PATCH) + ONE, -1),
        (windows(ROWS, Size.of(16)) + ONE, SIDE.floor(Size.of(16)), 1),
        (ROWS + ONE, SIDE, None),
        (ROWS.floor(PATCH) + ONE, SIDE.floor(Size.of(16)), None),
        (ROWS.floor(PATCH) * COLUMNS.floor(PATCH) + ONE, SIDE.floor(PATCH), None),
        (ROWS.floor(PATCH) + ONE, SIDE.floor(PATCH) + WIDTH, None),
        (SIDE.floor(PATCH) + ONE, SIDE.floor(PATCH), None),
    ],
)
def test_the_patches_exceed_the_rows_of_a_table_by_as_many(counted: Size, rows: Size, apart: int | None) -> None:
    assert rows_apart(counted, rows) == apart


def test_a_square_and_a_quotient_of_symbols_are_calculated() -> None:
    square = SIDE.floor(PATCH).calculated("**", Size.of(2))
    assert square == SIDE.floor(PATCH) * SIDE.floor(PATCH)
    assert SIDE.calculated("//", PATCH) == SIDE.floor(PATCH)
    assert SIDE.calculated("**", Size.of(3)) is None
    assert (SIDE * PATCH).calculated("//", PATCH) == SIDE
