"""What containers hold, and that looking at it costs what is different in it."""

from __future__ import annotations

import gc
import weakref

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


def test_contents_follow_what_is_put_into_containers_in_it() -> None:
    inner, outer = Shell("list", None, ()), Shell("dict", None, ())
    outer.put((inner,), (), "rows")
    assert outer.contents() == ()
    inner.put((Constant(1),), ())
    assert outer.contents() == (Constant(1),)
    inner.replace(0, (Constant(2),))
    assert outer.contents() == (Constant(2),)
    inner.pop(0)
    assert outer.contents() == ()


def test_what_is_there_in_any_case_is_not_put_in_again_for_a_condition() -> None:
    made = Shell("list", None, ())
    for path in ((), (("is_causal", True),), (("is_causal", True), ("is_cached", False))):
        made.put((Constant(1),), path)
    assert [entry.path for entry in made.entries] == [()]


def test_the_value_of_a_key_is_replaced_on_every_path() -> None:
    made = Shell("dict", None, ())
    made.put((Constant(1),), (), "a")
    made.put((Constant(2),), (("is_causal", True),), "a")
    made.put((Constant(3),), (), "a")
    made.put((Constant(1),), (), "a")
    made.put((Constant(5),), (), "b")
    assert made.part((Constant("b"),)) == (Constant(5),)
    assert made.part((Constant("a"),)) == (Constant(2), Constant(1))


def test_what_is_put_into_many_may_be_any_of_them() -> None:
    made = Shell("list", None, ())
    for number in range(2_000):
        made.put((Constant(number),), ((number, True),))
    assert len(made.entries) < 300
    assert not made.is_exact
    assert made.entries[-1].path == ()


def test_putting_something_into_a_container_does_not_depend_on_how_much_is_there() -> None:
    def put(number: int) -> None:
        made = Shell("dict", None, ())
        for key in range(number):
            made.put((Constant(key),), (), key)

    few, many = calls_of(lambda: put(100)), calls_of(lambda: put(1_000))
    assert many < 15 * few


def test_a_container_whose_contents_were_looked_at_is_freed_without_a_collection() -> None:
    class Made:
        pass

    gc.disable()
    try:
        value = Made()
        outer, inner = Shell("list", value, ()), Shell("list", None, ())  # type: ignore[arg-type]
        inner.put((Constant(1),), ())
        outer.put((inner,), ())
        assert outer.contents() == (Constant(1),)
        kept = weakref.ref(value)
        del outer, inner, value
        assert kept() is None
    finally:
        gc.enable()
