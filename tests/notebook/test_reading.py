"""Whatever a file called `.ipynb` holds, it is read or refused."""

from __future__ import annotations

import json

import pytest
from books import notebook
from hypothesis import given
from hypothesis import strategies as st

from modellint.notebook.reading import read
from modellint.source import UnreadableError

KEYS = st.sampled_from(
    ["cells", "cell_type", "source", "input", "metadata", "worksheets", "vscode", "kernelspec", "name"]
)
VALUES = st.recursive(
    st.sampled_from([None, 3, "code", "x = 1", "python", "\ud800", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
BOOK = notebook("#md x", "x = 1\n!ls", "%%writefile a.py\ny = 2").encode()


def read_or_refused(data: bytes) -> None:
    try:
        book = read(data)
    except UnreadableError as error:
        problem = error
    else:
        assert book.text.count("\n") == book.original.count("\n")
        return
    assert "expected" in problem.reason
    assert problem.span.line >= 1
    assert problem.span.column >= 1


@given(VALUES, st.sampled_from([None, 1]))
def test_any_json(value: object, indent: int | None) -> None:
    read_or_refused(json.dumps(value, indent=indent).encode())


@given(VALUES, VALUES)
def test_any_cells(first: object, second: object) -> None:
    read_or_refused(json.dumps({"cells": [first, {"cell_type": "code", "source": second}]}, indent=1).encode())


@pytest.mark.parametrize(
    ("document", "column"),
    [
        ({"cells": None, "worksheets": [{"cells": [3]}]}, 43),
        ({"worksheets": [{"cells": None}, {"cells": [3]}]}, 45),
        ({"worksheets": [{"cells": {"a": 1}}, {"cells": "x"}, 5, {"cells": [3]}]}, 68),
    ],
)
def test_a_cell_that_is_none_is_placed_whatever_stands_beside_it(document: object, column: int) -> None:
    text = json.dumps(document)
    assert text[column - 1] == "3"
    with pytest.raises(UnreadableError, match="cell 1: no object") as caught:
        read(text.encode())
    assert (caught.value.span.line, caught.value.span.column) == (1, column)


@given(st.integers(0, len(BOOK)), st.integers(0, 8), st.binary(max_size=4))
def test_any_damage(start: int, length: int, new: bytes) -> None:
    read_or_refused(BOOK[:start] + new + BOOK[start + length :])


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf" + BOOK, BOOK.replace(b"\n", b"\r\n"), b" \n" + BOOK])
def test_marks_and_blanks_around_it_do_not_matter(data: bytes) -> None:
    assert read(data) == read(BOOK)
