"""What the transfer functions say of shapes is what torch does: every row is tried in many calls, whole and in part."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

if "CI" not in os.environ:
    pytest.importorskip("torch")

import torch
from shape_calls import (
    PartialSight,
    Sample,
    SampleCall,
    Sight,
    changed,
    contradiction,
    found_in_torch,
    is_whole_known,
    respelt,
    run,
    shapes_of,
)
from shape_samples import SAMPLES

from modellint.flow.shapes import transfer
from modellint.flow.shapes.shape import Refused
from modellint.operators import shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.operators import Operator

#: What is not run here, and why.
UNCHECKED = {"Tensor.cuda": "a GPU", "Tensor.pin_memory": "a GPU"}
ABSENT = ("einops.", "speechbrain.")
ROWS = [row for row in shapes.shape_rows() if not row.name.startswith(ABSENT) and row.name not in UNCHECKED]
#: So many calls are made of each sample by changing its sizes, and each is seen in part so many times.
CHANGES, SIGHTS = 12, 6
REFUSED = "refused"


#: Methods that change their operand, and have no row of their own.
IN_PLACE = [
    row
    for plain in ROWS
    if plain.name.startswith("Tensor.")
    and hasattr(torch.Tensor, plain.name.partition(".")[2] + "_")
    and (row := shapes.shape_row(f"{plain.name}_")) is not None
    and "in-place" in row.facets
    and row not in ROWS
]


def samples_of(row: Operator) -> list[Sample]:
    short = row.name.rpartition(".")[2]
    if row in IN_PLACE:
        return samples_of(next(plain for plain in ROWS if plain.name == row.name[:-1]))
    found = SAMPLES.get(row.name, []) + SAMPLES.get(short, [])
    return [one for one in found if not (one.is_function and row.name.startswith("Tensor."))]


def fits(row: Operator, sample: Sample) -> bool:
    """True if a call of a function can be made as one of a method, which needs a tensor."""
    return not row.name.startswith("Tensor.") or bool(sample.args)


def real_shapes(name: str, sample: Sample) -> Any:
    """The shapes that torch gives, or `REFUSED`."""
    try:
        return shapes_of(run(name, sample))
    except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError, AssertionError):
        return REFUSED


def told_shapes(row: Operator, sample: Sample, sight: Sight) -> Any:
    try:
        return transfer.result(SampleCall(row, sample, sight))
    except Refused:
        return REFUSED


def wrong(row: Operator, sample: Sample, real: Any, sight: Sight) -> str | None:
    """What is wrong with what is told of a call; None if nothing is."""
    told = told_shapes(row, sample, sight)
    if told is REFUSED:
        return None if real is REFUSED else f"refused, but torch gives {real}"
    if real is REFUSED:
        return None
    if isinstance(told, list) and isinstance(real, list) and row.name.endswith(".chunk") and len(told) > len(real):
        told = told[: len(real)]  # as many as are asked for, where the length is unknown
    why = contradiction(told, real)
    return None if why is None else f"{told if not isinstance(told, list) else [*map(str, told)]} for {real}: {why}"


def of_row(row: Operator) -> Iterator[str]:
    """All that is wrong with the samples of a row, as they are."""
    if not samples_of(row):
        yield "no sample"
    for sample in samples_of(row):
        if not fits(row, sample):
            continue
        real, told = real_shapes(row.name, sample), told_shapes(row, sample, Sight())
        COUNTS["samples"] += 1
        if (real is REFUSED) is not sample.is_bad:
            yield f"{sample}: torch gives {real}"
        why = wrong(row, sample, real, Sight())
        if why is not None:
            yield f"{sample}: {why}"
        elif sample.is_refused and told is not REFUSED:
            yield f"{sample}: not refused: {told if not isinstance(told, list) else [*map(str, told)]}"
        elif not sample.is_bad and not sample.is_open and not is_whole_known(told) and real is not None:
            yield f"{sample}: told {told if not isinstance(told, list) else [*map(str, told)]} of {real}"
        for again in respelt(row, sample):
            if real is not REFUSED and real_shapes(row.name, again) == real:
                COUNTS["other names"] += 1
                if told_shapes(row, again, Sight()) != told and not sample.is_open:
                    yield f"{again}: {told_shapes(row, again, Sight())}, and {told} of {sample}"


COUNTS: Counter[str] = Counter()


#: So many rows are tried by one test.
_TOGETHER = 20
GROUPS = [ROWS[start : start + _TOGETHER] for start in range(0, len(ROWS), _TOGETHER)]


@pytest.mark.parametrize("rows", GROUPS, ids=lambda rows: rows[0].name)
def test_what_is_told_of_a_call_is_what_torch_does(rows: list[Operator]) -> None:
    assert {row.name: list(of_row(row)) for row in rows} == {row.name: [] for row in rows}


def of_other_calls(row: Operator) -> Iterator[str]:
    """All that is wrong with a row's samples and calls like them, as they are and seen in part."""
    chance = random.Random(row.name)
    for sample in samples_of(row):
        if not fits(row, sample):
            continue
        for number in range(CHANGES + 1):
            again = changed(sample, chance) if number else sample
            real = real_shapes(row.name, again)
            for sight in (Sight(), *(PartialSight(random.Random(chance.random())) for _ in range(SIGHTS))):
                COUNTS["calls in part"] += 1
                why = wrong(row, again, real, sight)
                if why is not None:
                    yield f"{again}: {why}"


@pytest.mark.dear
@pytest.mark.parametrize("rows", [*GROUPS, IN_PLACE], ids=lambda rows: rows[0].name)
def test_nothing_that_is_told_of_other_calls_contradicts_torch(rows: list[Operator]) -> None:
    assert {row.name: [*of_other_calls(row)][:20] for row in rows} == {row.name: [] for row in rows}


def test_each_row_is_one_of_torch() -> None:
    assert [row.name for row in ROWS if found_in_torch(row.name) is None] == []


def test_rows_have_documented_facets_only() -> None:
    words = set(re.findall(r"[a-z][a-z-]*", " ".join(re.findall(r"^    [a-z].*|`[^`]*`", shapes.__doc__ or "", re.M))))
    assert {facet for row in shapes.shape_rows() for facet in row.facets} - words == set()
