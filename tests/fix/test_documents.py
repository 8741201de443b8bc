"""Edits change what they replace and not a byte besides."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from effort import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from modellint.edits.changes import Change, EditError, applied, conflict, moved
from modellint.finding import Edit
from modellint.fix.documents import decoded, edited
from modellint.source import Place, Span

ENDINGS = ("\n", "\r\n", "\r")
#: Statements in parts, each of which gets an ending of its own; `é` stands for what an encoding can say.
PYTHON = [
    ["x = f(OLD, 'é')  # é "],
    ["class OLD:  # é", "\tdef f(a, b=OLD) :", "\t\treturn '''é", "  OLD é'''"],
    [""],
    ["# é OLD"],
    ["z = [1,", "", "     2 ]  ;  y=OLD"],
    ["\x0c"],
    ["if OLD: \\", "  pass   "],
    ["'é\u2028'; OLD"],
]
YAML = [
    ["a{n}: 1  # OLD"],
    ["b{n}: 'é OLD'"],
    ["c{n}: !new:torch.nn.OLD", "    x: [1,   'é',", "        OLD]"],
    ["# é"],
    [""],
    ["e{n}: |", "   é", "   OLD  ", "", "  # no comment"],
    ["f{n}: &OLD{n} é", "g{n}: [ *OLD{n} , {{x: OLD}} ]"],
]


def texts(statements: list[list[str]]) -> st.SearchStrategy[str]:
    """Any sequence of statements, with any ends of lines, and maybe none in the end."""
    parts = st.tuples(st.sampled_from(statements), st.lists(st.sampled_from(ENDINGS), min_size=5, max_size=5))

    def joined(chosen: list[tuple[list[str], list[str]]], is_open: bool) -> str:
        lines = [
            line.replace("{n}", str(number)).replace("{{", "{").replace("}}", "}") + ending
            for number, (statement, endings) in enumerate(chosen)
            for line, ending in zip(statement, endings, strict=False)
        ]
        text = "".join(lines)
        return text.rstrip("\r\n") if is_open and not text.rstrip("\r\n").endswith("\\") else text

    return st.builds(joined, st.lists(parts, max_size=8), st.booleans())


def replacing(path: Path, data: bytes, old: str, new: str) -> list[Edit]:
    """An edit for each occurrence of `old`."""
    edits = []
    for number, line in enumerate(decoded(path, data).lines, 1):
        start = line.find(old)
        while start >= 0:
            span = Span(number, start + 1, number, start + 1 + len(old))
            edits.append(Edit(Place(path.as_posix(), span), new))
            start = line.find(old, start + 1)
    return edits


def check_every_byte(path: Path, text: str, encoding: str) -> None:
    data = text.encode(encoding)
    plain = encoding.removesuffix("-sig")
    old, new = "OLD".encode(plain), "LONGER".encode(plain)
    result = edited(path, data, replacing(path, data, "OLD", "LONGER"))
    assert result == data.replace(old, new)
    assert edited(path, result, replacing(path, result, "LONGER", "OLD")) == data
    assert edited(path, data, []) == data


@settings(max_examples=drawn(200))
@given(text=texts(PYTHON), encoding=st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "cp1251", "shift_jis", "big5"]))
def test_python_keeps_every_byte_that_is_not_replaced(text: str, encoding: str) -> None:
    if not encoding.startswith("utf-8"):
        letter = {"cp1251": "\u0436", "shift_jis": "\uff71\u8868", "big5": "\u8a31"}.get(encoding, "é")
        text = f"# -*- coding: {encoding} -*-\n" + text.replace("é", letter).replace("\u2028", " ")
    check_every_byte(Path("a.py"), text, encoding)


@settings(max_examples=drawn(200))
@given(text=texts(YAML), encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"]))
def test_recipes_keep_every_byte_that_is_not_replaced(text: str, encoding: str) -> None:
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    check_every_byte(Path("a.yaml"), mark + text, encoding)


@pytest.mark.parametrize(
    ("name", "data", "new", "reason"),
    [
        ("a.py", b"# coding: latin-1\nx = OLD\n", "'\u4e2d'", "latin-1|iso-8859-1 cannot express the new text"),
        ("a.py", b"# coding: utf-7\nx = '+AC0-', OLD\n", "1", "utf-7 cannot give back the file as it is"),
        ("a.py", codecs.BOM_UTF8 + b"x = OLD\n", "'\ud800'", "utf-8 cannot express the new text"),
        ("a.py", b"x = OLD if y else z\n", "1 if", "the result is no Python"),
        ("a.py", b"x = OLD; y = 1\n", "1 #", "it would change `;`"),
        ("a.py", b"x = OLD + '''a'''\n", "'''", "no Python|it would change"),
        ("a.py", b"x = [OLD for a in b]\n", "1, 2", "the result is no Python"),
        ("a.py", b"if a:\n    OLD\nb\n", "", "the result is no Python"),
        ("a.yaml", b"a: !ref <b>\nb: [OLD, 2]\n", "1]", "the result is no recipe"),
        ("a.yaml", b"a: OLD  # b\nc: 1\n", "'", "the result is no recipe"),
    ],
)
def test_an_edit_that_changes_more_than_it_replaces_is_refused(name: str, data: bytes, new: str, reason: str) -> None:
    path = Path(name)
    with pytest.raises(EditError, match=reason):
        edited(path, data, replacing(path, data, "OLD", new))


@pytest.mark.parametrize("span", [Span(9, 1, 9, 2), Span(1, 5, 1, 90), Span(2, 1, 1, 1)])
def test_an_edit_of_what_is_not_there_is_refused(span: Span) -> None:
    with pytest.raises(EditError, match="not"):
        edited(Path("a.py"), b"x = 1\n", [Edit(Place("a.py", span), "y")])


def test_edits_that_overlap_are_refused() -> None:
    edits = [Edit(Place("a.py", Span(1, 1, 1, 4)), "y"), Edit(Place("a.py", Span(1, 3, 1, 5)), "z")]
    with pytest.raises(EditError, match="overlap"):
        edited(Path("a.py"), b"x = 1\n", edits)


def test_conflicts() -> None:
    first, second = Change(2, 5, "a"), Change(5, 7, "b")
    here, there = Change(5, 5, "c"), Change(3, 3, "d")
    assert not conflict(first, second)
    assert not conflict(first, here)
    assert not conflict(here, second)
    assert conflict(here, Change(5, 5, "e"))
    assert conflict(first, there)
    assert conflict(there, first)
    assert conflict(first, Change(4, 9, ""))
    assert applied("0123456789", [first, here, second]) == "01acb789"
    assert [moved(offset, [first, here, second]) for offset in (1, 7, 9)] == [1, 5, 7]
