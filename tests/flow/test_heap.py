"""What containers hold, and that looking at it costs what is different in it."""

from __future__ import annotations

from effort import calls_of

from modellint.flow.domain import PLAIN, Constant
from modellint.flow.heap import Shell


def nested(depth: int, number: int) -> Shell:
    """A list of `number` lists, each of which holds the same again."""
    made = Shell("list", None, ())
    below = nested(depth - 1, number) if depth else None
    for key in range(number):
        made.put((below or Constant(1), *PLAIN), (), key)
    return made


def test_contents_are_given_once_however_often_they_stand_in_a_container() -> None:
    assert list(nested(2, 40).contents()) == [*PLAIN, Constant(1)]


def test_what_is_nested_is_opened_once() -> None:
    shallow, deep = nested(2, 20), nested(8, 20)
    few, many = calls_of(lambda: list(shallow.contents())), calls_of(lambda: list(deep.contents()))
    assert many < 6 * few
