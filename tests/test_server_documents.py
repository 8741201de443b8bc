"""Texts as the protocol edits them."""

from __future__ import annotations

import pytest
from lsprotocol.types import Position, Range

from modellint.server.documents import replace_range


def put(
    text: str, start: tuple[int, int], new: str = "|", end: tuple[int, int] | None = None, encoding: str | None = None
) -> str:
    """A text after something is typed at a place, or in place of something."""
    return replace_range(text, Range(Position(*start), Position(*(end or start))), new, encoding)


@pytest.mark.parametrize("separator", ["\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_only_lf_crlf_and_cr_end_a_line(separator: str) -> None:
    assert put(f"a{separator}b\nc", (1, 0)) == f"a{separator}b\n|c"
    assert put(f"a{separator}b\r\nc\rd", (2, 0)) == f"a{separator}b\r\nc\r|d"
    assert put(f"a{separator}b\n", (0, 2)) == f"a{separator}|b\n"


def test_a_place_behind_the_end_is_the_end() -> None:
    assert put("a\r\nb", (0, 9)) == "a|\r\nb"
    assert put("a\r\nb", (0, 2)) == "a|\r\nb"
    assert put("a\rb", (0, 2)) == "a|\rb"
    assert put("a\nb\n", (2, 0)) == "a\nb\n|"
    assert put("a\nb\n", (7, 3)) == "a\nb\n|"
    assert put("a\nb", (2, 0)) == "a\nb|"
    assert put("", (0, 0)) == "|"
    assert put("a\nb", (0, 5), "", (1, 0)) == "ab"


def test_line_ends_that_come_together_are_one() -> None:
    text = put("a\rb", (1, 0), "\n")
    assert text == "a\r\nb"
    assert put(text, (1, 0)) == "a\r\n|b"
    assert put(put("a\r\nb", (0, 1), "\r"), (1, 0)) == "a\r|\r\nb"


def test_columns_count_what_was_agreed_on() -> None:
    assert put("😀é漢x", (0, 4), encoding="utf-16") == "😀é漢|x"
    assert put("😀é漢x", (0, 9), encoding="utf-8") == "😀é漢|x"
    assert put("😀é漢x", (0, 3), encoding="utf-32") == "😀é漢|x"
    assert put("😀x", (0, 3)) == "😀x|"
    assert put("😀é漢x", (0, 7), encoding="utf-8") == "😀é|漢x"


def test_halves_of_a_character_come_together_again() -> None:
    halves = put("a😀b", (0, 2))
    assert halves == "a\ud83d|\ude00b"
    assert put(halves, (0, 2), "", (0, 3)) == "a😀b"
    assert put("a😀b", (0, 2), "", (0, 3)) == "a\ud83db"
    assert put("a\ud83db", (0, 2), "\ude01") == "a😁b"


def test_a_range_may_be_given_backwards() -> None:
    assert put("abc\ndef", (1, 1), "|", (0, 1)) == "a|ef"
