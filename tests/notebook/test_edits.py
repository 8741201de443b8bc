"""Edits of cells: made in the strings that hold them, while every other byte of the file stays."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from books import notebook, sources_of
from hypothesis import given
from hypothesis import strategies as st

from modellint.edits.changes import Change, EditError, applied, conflict
from modellint.finding import Edit
from modellint.fix.documents import edited
from modellint.notebook.edits import rewritten
from modellint.notebook.layout import Layout
from modellint.notebook.reading import read
from modellint.source import Place, Span

TEXTS = st.text(st.sampled_from("ab \n\t\"\\/'é😀\r\x00\u2028[]{},:"), max_size=30)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def pieces(text: str, cuts: list[int]) -> list[str]:
    """A text in pieces, mostly in lines as notebooks have it."""
    if not cuts:
        return text.splitlines(keepends=True)
    bounds = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in itertools.pairwise(bounds)]


@st.composite
def cells(draw: st.DrawFn) -> dict[str, Any]:
    text = draw(TEXTS)
    source = draw(st.sampled_from([text, pieces(text, draw(st.lists(st.integers(0, 30), max_size=2)))]))
    extra = draw(st.dictionaries(st.sampled_from(["outputs", "metadata", "id", "x"]), VALUES))
    cell = {**extra, "cell_type": draw(st.sampled_from(["code", "code", "markdown"])), "source": source}
    return dict(draw(st.permutations(list(cell.items()))))


@st.composite
def documents(draw: st.DrawFn) -> str:
    book = {"cells": draw(st.lists(cells(), min_size=1, max_size=4)), "metadata": {}, "nbformat": 4, "x": draw(VALUES)}
    text = json.dumps(
        dict(draw(st.permutations(list(book.items())))),
        indent=draw(st.sampled_from([None, 0, 1, 4, "\t"])),
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")])),
    )
    text = draw(st.sampled_from([text, text.replace("a", "\\u0061"), text.replace("/", "\\/")]))
    return draw(st.sampled_from(["", "\n"])) + text + draw(st.sampled_from(["", "\n", "\r\n \n"]))


@st.composite
def edits(draw: st.DrawFn, source: str) -> list[Change]:
    found: list[Change] = []
    for _ in range(draw(st.integers(0, 3))):
        bounds = sorted((draw(st.integers(0, len(source))), draw(st.integers(0, len(source)))))
        change = Change(bounds[0], bounds[1], draw(TEXTS))
        if not any(conflict(change, other) or change == other for other in found):
            found.append(change)
    return sorted(found)


@pytest.mark.dear
@given(data=st.data(), text=documents(), bom=st.booleans())
def test_only_the_sources_that_are_edited_change(data: st.DataObject, text: str, bom: bool) -> None:
    before = text.encode("utf-8-sig" if bom else "utf-8")
    code = [number for number, cell in enumerate(json.loads(text)["cells"], 1) if cell["cell_type"] == "code"]
    sources = sources_of(text)
    changes = {number: made for number in code if (made := data.draw(edits(sources[number - 1])))}
    after = rewritten(before, changes)
    expected = json.loads(text)
    got = json.loads(after.decode("utf-8-sig"))
    for number, made in changes.items():
        assert sources_of(after.decode("utf-8-sig"))[number - 1] == applied(sources[number - 1], made)
        was = expected["cells"][number - 1]["source"]
        assert isinstance(got["cells"][number - 1]["source"], type(was)) or was == ""
        got["cells"][number - 1]["source"] = was
    assert got == expected
    assert outside(before, changes) == outside(after, changes)


def outside(data: bytes, numbers: dict[int, list[Change]]) -> list[str]:
    """The text between the sources of some cells, and what is before the first one and after the last."""
    text = data.decode()
    start = len(text) - len(text.removeprefix("\ufeff"))
    layout = Layout(text[start:])
    values = sorted((value.start, value.end) for value in map(layout.source, numbers))
    ends = [0, *(end for _, end in values)]
    starts = [*(begin for begin, _ in values), len(layout.text)]
    return [text[:start], *(layout.text[end:begin] for end, begin in zip(ends, starts, strict=True))]


def test_lines_that_are_not_edited_keep_how_they_are_written() -> None:
    text = '{"cells": [{"cell_type": "code",\n "source": ["x = \\"\\u00e4\\/\\"\\n",\n   "y = 1\\n" ,\n "z"]}]}'
    assert rewritten(text.encode(), {1: [Change(13, 14, "2\nw = 'ü'")]}).decode() == text.replace(
        '"y = 1\\n"', '"y = 2\\n",\n   "w = \'\\u00fc\'\\n"'
    )


@pytest.mark.parametrize("as_text", [False, True])
def test_what_is_put_behind_the_last_line_of_a_cell_becomes_its_last_line(as_text: bool) -> None:
    """That line has no end, and the module's next one is before the next cell."""
    path = Path("/x/book.ipynb")
    data = notebook("a = 1", "b = 2\n", "c = 3", as_text=as_text).encode()
    book = read(data)
    for number, (cell, expected) in enumerate(
        zip(book.cells, ("a = 1\nd = 4", "b = 2\nd = 4\n", "c = 3\nd = 4"), strict=True)
    ):
        line = cell.last + 1
        after = edited(path, data, [Edit(Place(path.as_posix(), Span(line, 1, line, 1)), "d = 4\n")])
        assert sources_of(after)[number] == expected


def test_what_is_put_before_the_first_line_of_a_cell_becomes_its_first_line() -> None:
    path = Path("/x/book.ipynb")
    data = notebook("a = 1", "b = 2").encode()
    line = read(data).cells[1].first
    after = edited(path, data, [Edit(Place(path.as_posix(), Span(line, 1, line, 1)), "d = 4\n")])
    assert sources_of(after) == ["a = 1", "d = 4\nb = 2"]


@pytest.mark.parametrize(
    ("source", "span", "text"),
    [
        ("x = !ls", Span(2, 5, 2, 8), "1"),
        ("%time x = 1", Span(2, 1, 2, 3), "1;"),
        ("a = 1", Span(2, 5, 2, 6), "("),
        ("a = 1", Span(9, 1, 9, 1), "b"),
        ("a = 1\nb = 2", Span(2, 1, 4, 1), ""),
    ],
    ids=["a shell command", "a magic", "no Python", "no such line", "a whole cell is fine"],
)
def test_an_edit_that_does_not_fit_is_refused(source: str, span: Span, text: str) -> None:
    path = Path("/x/book.ipynb")
    data = notebook(source, "last = 1").encode()
    if text == "":
        assert sources_of(edited(path, data, [Edit(Place(path.as_posix(), span), text)])) == ["", "last = 1"]
        return
    with pytest.raises(EditError):
        edited(path, data, [Edit(Place(path.as_posix(), span), text)])
