"""Shapes by einops' patterns, which is not installed here, and sizes that are divided."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modellint.flow.shapes.dtypes import FLOATS, INTEGERS, Typed, promote
from modellint.flow.shapes.patterns import rearrange
from modellint.flow.shapes.shape import ANY_STAR, Dim, Refused, Shape, Star, broadcast, differ
from modellint.graph.size import Quotient, Size, Symbol

N, M = (Size.symbol(Symbol("a test", name)) for name in "nm")

#: The shape, the pattern, the lengths that are given by name, and the result.
PATTERNS: list[tuple[Shape, str, dict[str, int], Shape]] = [
    (Shape.of(2, 3, 4, 5), "b c h w -> b (h w) c", {}, Shape.of(2, 20, 3)),
    (Shape.of(2, 20, 3), "b (h w) c -> b c h w", {"h": 4}, Shape.of(2, 3, 4, 5)),
    (Shape.of(2, 7, 24), "b n (h d) -> b h n d", {"h": 8}, Shape.of(2, 8, 7, 3)),
    (Shape.of(2, 3, 4), "b c d -> b d", {}, Shape.of(2, 4)),
    (Shape.of(2, 3, 4), "b c d -> b 1 d", {}, Shape.of(2, 1, 4)),
    (Shape.of(2, 3), "b c -> b c 1 1", {}, Shape.of(2, 3, 1, 1)),
    (Shape.of(2, 3), "b c -> b (r c)", {"r": 4}, Shape.of(2, 12)),
    (Shape.of(2, 3), "b c -> r b c", {"r": 4}, Shape.of(4, 2, 3)),
    (Shape.of(3), "d -> () d", {}, Shape.of(1, 3)),
    (Shape.of(2, 8, 8, 3), "b (h p1) (w p2) c -> b (h w) (p1 p2 c)", {"p1": 4, "p2": 2}, Shape.of(2, 8, 24)),
    (Shape.of(5, 2, 3, 4), "... i j -> ... j i", {}, Shape.of(5, 2, 4, 3)),
    (Shape.of(2, 3, 4), "b ... -> b (...)", {}, Shape.of(2, 12)),
    (Shape.of(2, 3), "b c -> c b extra", {}, Shape.of(3, 2, None)),
    (Shape.of(2, 7, 64), "b t c -> b t d", {"c": 64, "d": 128}, Shape.of(2, 7, 128)),
    (Shape.of(2, 7, 64), "b t (g c) -> b t (g d)", {"g": 4, "c": 16, "d": 32}, Shape.of(2, 7, 128)),
    (Shape.of(N, M * Size.of(3), 4), "b (three d) e -> three b d e", {"three": 3}, Shape.of(3, N, M, 4)),
    (Shape.of(N, M, 4), "b (h d) e -> b h d e", {"h": 3}, Shape.of(N, 3, M.floor(Size.of(3)), 4)),
    (
        Shape((), Star("x"), (Dim.of(6),)),
        "... (h d) -> ... h d",
        {"h": 2},
        Shape((), Star("x"), (Dim.of(2), Dim.of(3))),
    ),
    (Shape((), Star("x"), (Dim.of(6),)), "b n d -> b d n", {}, Shape.of(None, 6, None)),
]
REFUSED = [
    (Shape.of(2, 3, 4), "b c -> c b", {}),
    (Shape.of(2), "b c ... -> c b", {}),
    (Shape.of(2, 7), "b (h d) -> b h d", {"h": 2}),
    (Shape.of(2, 7), "b c -> c b", {"c": 5}),
    (Shape.of(2, 3), "b 1 -> b", {}),
    (Shape.of(2, 7, 32), "b t c -> b t d", {"c": 64, "d": 128}),
]


@pytest.mark.parametrize(("shape", "pattern", "lengths", "wanted"), PATTERNS)
def test_a_pattern_tells_the_shape(shape: Shape, pattern: str, lengths: dict[str, int], wanted: Shape) -> None:
    found = rearrange(pattern, shape, {name: Dim.of(length) for name, length in lengths.items()})
    assert found == wanted


@pytest.mark.parametrize(("shape", "pattern", "lengths"), REFUSED)
def test_a_pattern_that_does_not_fit_is_refused(shape: Shape, pattern: str, lengths: dict[str, int]) -> None:
    with pytest.raises(Refused):
        rearrange(pattern, shape, {name: Dim.of(length) for name, length in lengths.items()})


def value(size: Size, n: int, m: int) -> int:
    """The number that a size of `n` and `m` stands for."""
    total = 0
    for symbols, factor in size.terms:
        for symbol in symbols:
            if isinstance(symbol, Quotient):
                assert symbol.numerator is not None
                assert symbol.denominator is not None
                factor *= value(symbol.numerator, n, m) // value(symbol.denominator, n, m)
            else:
                factor *= {"n": n, "m": m}[symbol.name]
        total += factor
    return total


numbers, factors = st.integers(1, 40), st.integers(-6, 6)
sizes = st.tuples(factors, factors, factors, factors).map(
    lambda f: N * Size.of(f[0]) + M * Size.of(f[1]) + N * M * Size.of(f[2]) + Size.of(f[3])
)


@given(sizes, st.integers(1, 8), numbers, numbers)
def test_a_size_divided_by_a_number_is_rounded_down(size: Size, by: int, n: int, m: int) -> None:
    assert value(size.floor(Size.of(by)), n, m) == value(size, n, m) // by


@given(sizes, st.sampled_from((N, M, N * Size.of(2), N * M, N + Size.of(1))), numbers, numbers)
def test_a_size_divided_by_another_one_is_rounded_down(size: Size, by: Size, n: int, m: int) -> None:
    assert value(size.floor(by), n, m) == value(size, n, m) // value(by, n, m)


@given(sizes, sizes, st.integers(1, 5), numbers, numbers)
def test_sizes_that_differ_are_equal_for_no_symbols(one: Size, other: Size, by: int, n: int, m: int) -> None:
    for left, right in ((one, other), (one.floor(Size.of(by)), other), (one.floor(Size.of(by)), one)):
        if differ(left, right):
            assert value(left, n, m) != value(right, n, m)


def test_shapes_that_many_shapes_decide_are_unknown_and_soon_so() -> None:
    """Each key would be as long as both keys before it together."""
    one, other = Shape((), Star("x")), Shape((), Star("y"))
    near = broadcast(one, other)
    assert near == broadcast(Shape((), Star("x")), Shape((), Star("y")))
    for _ in range(200):
        one, other = other, broadcast(one, other)
    assert other.star is ANY_STAR


def test_types_of_many_tensors_are_those_of_two() -> None:
    many = [Typed("float32", None)] * 200
    assert promote(many) == promote(many[:2]) == "float32"
    assert promote([*many, Typed("float64", 2)]) == promote([*many[:2], Typed("float64", 2)])
    assert promote([Typed(name, None) for name in (*FLOATS, *INTEGERS)]) is None
