"""Each row of the table keeps for the backward pass what it says: that is changed, and torch raises."""

from __future__ import annotations

import os
import warnings
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

if "CI" not in os.environ:
    pytest.importorskip("torch")

import torch
from shape_calls import Sample, SampleCall, Sight, T, concrete, found_in_torch
from test_shapes_against_torch import IN_PLACE, ROWS, fits, samples_of
from torch.autograd.graph import increment_version

from modellint.flow.shapes.atoms import Shaped
from modellint.flow.shapes.parts import NEEDED, kept_places, part_of_result
from modellint.flow.shapes.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.shapes.atoms import Traced
    from modellint.operators import Operator

#: What torch raises if a tensor is changed that the backward pass needs.
WORDS = "modified by an inplace operation"
#: The result itself, among the places of what is changed.
RESULT = "result"


class Run:
    """One call of torch, with gradients for the tensors of real numbers that `wanted` counts."""

    def __init__(self, row: Operator, sample: Sample, wanted: tuple[int, ...]) -> None:
        torch.manual_seed(0)
        self.tensors: dict[int | str, torch.Tensor] = {}
        self.needing: set[int | str] = set()
        self._wanted = wanted
        args = [self._made(one, number) for number, one in enumerate(sample.args)]
        names = {name: self._made(one, name) for name, one in sample.names.items()}
        target = found_in_torch(row.name)
        self.layer: torch.nn.Module | None = None
        if sample.made is not None:
            given, keywords = sample.made
            made: Any = target(*map(concrete, given), **{name: concrete(one) for name, one in keywords.items()})
            self.layer = made
            self.found = made(*args, **names)
        else:
            self.found = target(*args, **names) if callable(target) else target.__get__(args[0])
        self.outputs = [one for one in _tensors_of(self.found) if one.requires_grad]

    def _made(self, value: Any, place: int | str) -> Any:
        if not isinstance(value, T):
            return concrete(value)
        tensor = value.made()
        if tensor.is_floating_point():
            tensor = torch.rand_like(tensor) * 0.8 + 0.1
            if len(self.tensors) in self._wanted:
                self.needing.add(place)
                tensor.requires_grad_()
            tensor = tensor * 1
        self.tensors[place] = tensor
        return tensor

    def raises_after_change_of(self, place: int | str) -> bool:
        for one in self.outputs if place == RESULT else [self.tensors[place]]:
            increment_version(one)
        try:
            sum((one * 1).abs().sum() for one in self.outputs).backward()
        except RuntimeError as error:
            return WORDS in str(error)
        return False


class SavingCall(SampleCall):
    """A call as the transfer functions see it, with the tensors that need gradients."""

    def __init__(self, row: Operator, sample: Sample, needing: set[int | str]) -> None:
        super().__init__(row, sample, Sight())
        self.is_layer = sample.made is not None
        given = (*enumerate(sample.args), *sample.names.items())
        self.picked = {
            place: Shaped(Shape.of(*one.sizes), one.dtype, traced=NEEDED if place in needing else None)
            for place, one in given
            if isinstance(one, T)
        }
        self.first = next(iter(self.picked.values()), None)

    def listed_tensors(self) -> list[Shaped]:
        return []


def _tensors_of(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _tensors_of(one)


def runs_of(row: Operator) -> Iterator[tuple[Sample, tuple[int, ...], Run]]:
    """The calls of a row that torch carries out, with gradients for some of the tensors, or only for parameters."""
    for sample in samples_of(row):
        if not fits(row, sample) or sample.is_bad:
            continue
        count = sum(isinstance(one, T) for one in (*sample.args, *sample.names.values()))
        for some in (
            wanted for size in range(min(count, 2) + 1) for wanted in combinations(range(min(count, 3)), size)
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    run = Run(row, sample, some)
                except (RuntimeError, NotImplementedError):
                    continue
            yield sample, some, run


def told_part(row: Operator, sample: Sample, run: Run) -> Traced | None:
    dtype = str(run.outputs[0].dtype).partition(".")[2] if run.outputs else "int64"
    return part_of_result(SavingCall(row, sample, run.needing), dtype, None)  # type: ignore[arg-type]


def wrong(row: Operator) -> Iterator[str]:
    """The calls of a row that keep less than is told."""
    for sample, some, run in runs_of(row):
        call = SavingCall(row, sample, run.needing)
        part = told_part(row, sample, run)
        if part is not None and part.needs and not run.outputs:
            yield f"{sample} with {some}: no result needs a gradient"
        if part is None or not part.needs or not run.outputs:
            continue
        kept: list[int | str] = [] if row in IN_PLACE else list(kept_places(call))  # type: ignore[arg-type]
        for place in (*kept, *([RESULT] if part.kept is not None else [])):
            if not Run(row, sample, some).raises_after_change_of(place):
                yield f"{sample} with {some}: {place} is not kept"


SAVING = [row for row in (*ROWS, *IN_PLACE) if row.facets.keys() & {"saves", "learns", "fresh"}]
#: So many rows are tried by one test.
_TOGETHER = 40
GROUPS = [SAVING[start : start + _TOGETHER] for start in range(0, len(SAVING), _TOGETHER)]


@pytest.mark.parametrize("rows", GROUPS, ids=lambda rows: rows[0].name)
def test_torch_raises_if_what_an_operator_keeps_is_changed(rows: list[Operator]) -> None:
    assert {row.name: list(wrong(row)) for row in rows} == {row.name: [] for row in rows}


@pytest.mark.dear
def test_what_an_operator_makes_of_a_tensor_with_gradient_has_one() -> None:
    others = [row for row in ROWS if row not in SAVING and not row.name.startswith("torch.nn.init")]
    assert {row.name: found for row in others if (found := list(wrong(row)))} == {}


def test_views_share_the_memory_of_their_operand() -> None:
    rows = [row for row in ROWS if "shares" in row.facets and row.name != "torch.nn.Identity"]
    assert len(rows) > 20
    for row in rows:
        for sample in samples_of(row):
            if fits(row, sample) and not sample.is_bad and not sample.names.get("input"):
                run = Run(row, sample, ())
                (result,) = _tensors_of(run.found)
                before = result._version
                increment_version(run.tensors[0])
                assert result._version == before + 1, (row.name, str(sample))


#: Arguments of operators with a flag `inplace`.
MADE = {"Hardtanh": (-1.0, 1.0), "Threshold": (0.5, 0.1)}


@pytest.mark.parametrize("row", [row for row in ROWS if "changes-if" in row.facets], ids=lambda row: row.name)
def test_an_operator_changes_its_operand_if_it_is_told_to(row: Operator) -> None:
    place = row.argument("changes-if")
    if place is None or row.name.startswith(("Tensor.", "torch.relu", "torch.selu")):
        return
    target, tensor = found_in_torch(row.name), torch.rand(3)
    given = MADE.get(row.name.rpartition(".")[2].capitalize(), ())
    if row.name.rpartition(".")[2][:1].isupper():
        target(*given, inplace=True)(tensor)
    else:
        target(tensor, *given, inplace=True)
    assert tensor._version == 1
