"""Symbolic sizes: compared as expressions, described by numbers and names."""

from __future__ import annotations

from modellint.graph.size import Size, Symbol, excess, is_proved


def test_sizes_are_compared_as_expressions() -> None:
    rows = Size.of(4096)
    assert excess(rows + Size.of(1), rows) == 1
    assert is_proved(rows + Size.of(1), rows)


def test_sizes_are_described_by_number_and_name() -> None:
    rows = Size.symbol(Symbol("main.py:f", "rows", 8))
    assert (rows - Size.of(1)).described == "7 (`rows - 1`)"
    assert Size.of(8).described == "8"


def test_defaults_of_two_records_are_not_compared() -> None:
    small = Size.symbol(Symbol("main.py:small", "n", 10))
    large, more = (Size.symbol(Symbol("main.py:large", name, number)) for name, number in (("m", 20), ("k", 30)))
    assert excess(large, small) is None
    assert excess(more, large) == 10
