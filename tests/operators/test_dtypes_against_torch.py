"""The types of elements that are told of results are those that torch gives, and only what torch refuses is refused."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

if "CI" not in os.environ:
    pytest.importorskip("torch")

import torch
from shape_calls import Sample, T, run
from test_shapes_against_torch import GROUPS, fits, samples_of

from modellint.flow.shapes import dtypes
from modellint.flow.shapes.dtypes import Typed
from modellint.flow.shapes.shape import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.operators import Operator

NAMES = ("float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64")
#: What each tensor of a sample is tried as.
TRIED = ("float32", "float64", "bfloat16", "int64", "int32", "bool")
REFUSED = ["refused"]


def test_types_are_promoted_as_torch_does() -> None:
    tensors = [(name, rank) for name in NAMES for rank in (1, 0)]
    operands: list[tuple[Typed, Any]] = [
        (Typed(name, rank + 1), torch.ones((2,) * rank, dtype=getattr(torch, name))) for name, rank in tensors
    ]
    operands += [(dtypes.of_number(number), number) for number in (True, 2, 2.0, 2j)]
    for (one, left), (other, right) in itertools.product(operands, repeat=2):
        wanted = str(torch.result_type(left, right)).removeprefix("torch.")
        assert dtypes.promote([one, other]) == wanted, (one, other)


@pytest.mark.parametrize("name", [None, "float", "integer"])
def test_a_kind_is_promoted_to_what_each_of_it_would_be(name: str | None) -> None:
    for other in NAMES:
        found = dtypes.promote([Typed(name, None), Typed(other)])
        for member in NAMES:
            if name is None or dtypes.is_of(member, dtypes.FLOATS if name == "float" else dtypes.INTEGERS):
                assert dtypes.can_be(found, (dtypes.promote([Typed(member), Typed(other)]) or "",))


def types_given(sample: Sample) -> list[Typed]:
    found = []
    values = [*sample.args, *sample.names.values()]
    for value in itertools.chain.from_iterable(one if isinstance(one, list | tuple) else [one] for one in values):
        if isinstance(value, T):
            found.append(Typed(value.dtype, 2 if value.sizes else 1))
        elif isinstance(value, bool | int | float):
            found.append(dtypes.of_number(value))
    return found


def types_of(value: Any) -> list[str]:
    if isinstance(value, torch.Tensor):
        return [str(value.dtype).removeprefix("torch.")]
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        return [name for one in value for name in types_of(one)]
    return []


def retyped(sample: Sample, index: int | None, name: str) -> Sample:
    """The call with the type of one of its tensors changed, or of all that hold real numbers."""
    count = itertools.count()

    def change(value: Any) -> Any:
        if isinstance(value, T):
            at = next(count)
            return replace(value, dtype=name) if at == index or (index is None and value.dtype == "float32") else value
        return type(value)(map(change, value)) if isinstance(value, list | tuple) else value

    return replace(sample, args=tuple(map(change, sample.args)), names={k: change(v) for k, v in sample.names.items()})


def of_row(row: Operator) -> Iterator[str]:
    for sample in samples_of(row)[:6]:
        if sample.is_bad or not fits(row, sample):
            continue
        for index, name in itertools.product((None, 0, 1, 2), TRIED):
            again = retyped(sample, index, name)
            if "dtype" in again.names or any(isinstance(one, torch.dtype) for one in again.args):
                continue
            try:
                real = types_of(run(row.name, again))
            except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError, AssertionError):
                real = REFUSED
            try:
                told = dtypes.types_of_result(row, types_given(again))
            except Refused:
                if real is not REFUSED:
                    yield f"{again}: refused, but torch gives {real}"
                continue
            if real is REFUSED:
                continue
            pairs = itertools.zip_longest(told[: len(real)], real, fillvalue=told[-1])
            wrong = [(one, two) for one, two in pairs if not dtypes.can_be(one, (str(two),))]
            if wrong:
                yield f"{again}: {told} of {real}"


@pytest.mark.parametrize("rows", GROUPS, ids=lambda rows: rows[0].name)
def test_types_that_are_told_are_those_of_torch(rows: list[Operator]) -> None:
    assert {row.name: [*of_row(row)][:10] for row in rows} == {row.name: [] for row in rows}


REFUSALS = [
    ("torch.mean", ["int64"]), ("torch.nn.functional.softmax", ["int64"]), ("torch.matmul", ["float32", "float64"]),
    ("torch.nn.Linear", ["int64"]), ("torch.nn.Linear", ["float64"]), ("torch.nn.Conv2d", ["float64"]),
    ("torch.nn.Embedding", ["float32"]), ("torch.masked_fill", ["float32", "int64"]),
    ("torch.gather", ["float32", "float32"]), ("torch.nn.functional.cross_entropy", ["float32", "int32"]),
    ("torch.where", ["int64", "float32", "float32"]), ("torch.neg", ["bool"]), ("torch.sub", ["bool", "bool"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "types"), REFUSALS)
def test_types_that_torch_refuses_are_refused(name: str, types: list[str]) -> None:
    row = next(row for rows in GROUPS for row in rows if row.name == name)
    with pytest.raises(Refused):
        dtypes.types_of_result(row, [Typed(one) for one in types])
