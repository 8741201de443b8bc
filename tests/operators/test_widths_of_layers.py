"""The constructors that are said to divide a width by a number of parts do so: they refuse a remainder."""

from __future__ import annotations

import os
from inspect import signature
from typing import TYPE_CHECKING

import pytest

if "CI" not in os.environ:
    pytest.importorskip("torch")

from torch import nn

from modellint.flow.shapes.transfer import arguments
from modellint.operators.shapes import shape_rows

if TYPE_CHECKING:
    from modellint.operators import Operator

DIVIDING = [row for row in shape_rows() if "divided" in row.facets]
#: What constructors need besides widths and their parts.
_MORE = {"kernel_size": 1}


@pytest.mark.parametrize("row", DIVIDING, ids=lambda row: row.name)
def test_a_constructor_refuses_what_does_not_divide_the_width(row: Operator) -> None:
    layer = getattr(nn, row.name.rpartition(".")[2])
    names = list(signature(layer).parameters)
    named = arguments(row, "divided")
    needed = {name: size for name, size in _MORE.items() if name in names}
    fitting = {**needed, **{name: 3 if at % 2 else 6 for at, (_, name) in enumerate(named)}}
    layer(**fitting)
    for (place, width), (parts_place, parts) in zip(named[::2], named[1::2], strict=True):
        assert (names[place], names[parts_place]) == (width, parts)
        with pytest.raises((ValueError, AssertionError)):
            layer(**{**fitting, width: 7})
