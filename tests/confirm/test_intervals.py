"""Ranges of integers, from where they are drawn to where they are looked up."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from operator_samples import Trial, places  # noqa: E402
from torch import nn  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

from modellint.confirm.worker.intervals import Intervals, ReadNumbers  # noqa: E402
from modellint.confirm.worker.operators import RULES  # noqa: E402

CLASSES, ROWS = 4160, 4096
Use = Callable[[Any, Any], Any]


def run(code: Callable[[Intervals], None], *, fake: bool) -> Intervals:
    intervals = Intervals(RULES)
    with torch.no_grad(), FakeTensorMode() if fake else contextlib.nullcontext(), intervals, ReadNumbers(intervals):
        code(intervals)
    return intervals


def outcome(use: Use, *, fake: bool) -> tuple[int, int, bool]:
    """Lowest and highest id of the last lookup in a table of `ROWS` rows, and if it can fail."""

    def code(intervals: Intervals) -> None:
        head, table = nn.Linear(8, CLASSES), nn.Embedding(ROWS, 8)
        # A bias that makes a small id the largest score: what really happens is no failure (a random one
        # makes it one of the last now and then, and then nothing is left to look up).
        nn.init.zeros_(head.weight)
        nn.init.zeros_(head.bias)
        head.bias[0] = 1
        with contextlib.suppress(IndexError):
            use(head(torch.zeros(2, 5, 8)), table)

    lookup = run(code, fake=fake).lookups[-1]
    return lookup.ids.low, lookup.ids.high, lookup.fails


def _masked_in_place(scores: Any, table: Any) -> Any:
    scores[..., ROWS:] = float("-inf")
    return table(scores.argmax(-1))


PASSES: dict[str, Use] = {
    "as it is": lambda scores, table: table(scores.argmax(-1)),
    "top k": lambda scores, table: table(scores.topk(3).indices),
    "the place of the maximum": lambda scores, table: table(scores.max(-1)[1]),
    "sorted": lambda scores, table: table(scores.sort(descending=True)[1]),
    "sampled": lambda scores, table: table(torch.multinomial(scores[0].softmax(-1), 1)),
    "views": lambda scores, table: table(scores.argmax(-1)[:, None].expand(2, 3, 5).reshape(-1).flip(0)),
    "joined": lambda scores, table: table(torch.cat([scores.argmax(-1), torch.zeros(2, 1, dtype=torch.long)], 1)),
    "stacked": lambda scores, table: table(torch.stack([scores.argmax(-1)] * 2)),
    "cast": lambda scores, table: table(scores.argmax(-1).int().long()),
    "a weight": lambda scores, table: table.weight[scores.argmax(-1)],
    "selected": lambda scores, table: table.weight.index_select(0, scores.argmax(-1)[0]),
    "functional": lambda scores, table: nn.functional.embedding(scores.argmax(-1), table.weight),
    "through a list": lambda scores, table: table(torch.tensor(scores.argmax(-1).tolist())),
    "clamped scores": lambda scores, table: table(scores.clamp(max=ROWS - 1).argmax(-1)),
    "a lower limit": lambda scores, table: table(scores.argmax(-1).clamp(min=0)),
}
STOPS: dict[str, Use] = {
    "clamp": lambda scores, table: table(scores.argmax(-1).clamp(0, ROWS - 1)),
    "an upper limit": lambda scores, table: table(scores.argmax(-1).clamp(max=ROWS - 1)),
    "minimum": lambda scores, table: table(torch.minimum(scores.argmax(-1), torch.full((2, 5), ROWS - 1))),
    "remainder": lambda scores, table: table(scores.argmax(-1) % ROWS),
    "where": lambda scores, table: table(torch.where((ids := scores.argmax(-1)) < ROWS, ids, 0)),
    "masked": lambda scores, table: table((ids := scores.argmax(-1)).masked_fill(ids >= ROWS, 0)),
    "filtered": lambda scores, table: table((ids := scores.argmax(-1))[ids < ROWS]),
    "cut scores": lambda scores, table: table(scores[..., :ROWS].argmax(-1)),
    "scores of minus infinity": _masked_in_place,
    "a mask of classes": lambda scores, table: table(
        scores.masked_fill(torch.arange(CLASSES) >= ROWS, float("-inf")).softmax(-1).argmax(-1)
    ),
    "shifted back": lambda scores, table: table((scores.argmax(-1) - (CLASSES - ROWS)).clamp(min=0)),
}


@pytest.mark.dear
@pytest.mark.parametrize("fake", [True, False])
@pytest.mark.parametrize("name", PASSES)
def test_what_passes_ids_on(name: str, fake: bool) -> None:
    assert outcome(PASSES[name], fake=fake) == (0, CLASSES - 1, True)


@pytest.mark.parametrize("fake", [True, False])
@pytest.mark.parametrize("name", STOPS)
def test_what_keeps_ids_inside(name: str, fake: bool) -> None:
    if name == "filtered" and fake:
        pytest.skip("how many ids remain depends on their values")
    low, high, fails = outcome(STOPS[name], fake=fake)
    assert (low, high, fails) == (0, ROWS - 1, False)


def test_one_row_too_few() -> None:
    def code(intervals: Intervals) -> None:
        ids = intervals.declare(torch.zeros(2, dtype=torch.long), 0, 10, "`ids`")
        nn.Embedding(11, 4)(ids)
        nn.Embedding(10, 4)(ids)
        nn.Embedding(11, 4)(ids + 1)
        nn.Embedding(11, 4)(ids - 1)

    lookups = run(code, fake=True).lookups
    assert [(lookup.rows, str(lookup.ids), lookup.fails) for lookup in lookups] == [
        (11, "[0, 10]", False),
        (10, "[0, 10]", True),
        (11, "[1, 11]", True),
        (11, "[-1, 9]", True),
    ]
    assert str(lookups[1]) == "ids [0, 10] of `ids` look up 10 rows in `embedding`"


@pytest.mark.parametrize(("rows", "fails"), [(99, True), (100, False)])
def test_negative_positions_wrap_in_a_table_that_is_long_enough(rows: int, fails: bool) -> None:
    def code(intervals: Intervals) -> None:
        cos = torch.arange(rows).float().cos()
        cos[nn.utils.rnn.pad_sequence([torch.arange(3), torch.arange(2)], padding_value=-100)]

    lookups = run(code, fake=True).lookups
    assert [(str(lookup.ids), lookup.wraps, lookup.fails) for lookup in lookups] == [("[-100, 2]", True, fails)]


def test_a_write_through_a_view_is_seen_in_the_whole() -> None:
    def code(intervals: Intervals) -> None:
        ids = torch.zeros(2, 5, dtype=torch.long)
        nn.Embedding(10, 4)(ids)
        ids[:, 3] = 10
        nn.Embedding(10, 4)(ids)

    assert [str(lookup.ids) for lookup in run(code, fake=True).lookups] == ["[0, 0]", "[0, 10]"]


def test_what_is_unknown_is_not_reported() -> None:
    def code(intervals: Intervals) -> None:
        table = nn.Embedding(10, 4)
        known = torch.zeros(2, dtype=torch.long)
        table(torch.empty(2, dtype=torch.long))
        table(known.float().exp().long())
        known[0] = torch.empty((), dtype=torch.long)
        table(known)

    assert run(code, fake=True).lookups == []


def test_a_new_tensor_of_numbers_is_not_what_lay_there_before() -> None:
    ranges = []

    def code(intervals: Intervals) -> None:
        numbers = nn.Linear(4, 11)(torch.zeros(2, 4)).argmax(-1).tolist()
        for _ in range(20):
            gone = torch.zeros(2, dtype=torch.long)
            gone[0] = torch.empty((), dtype=torch.long)
            del gone
            ranges.append(str(intervals.range_of(torch.tensor(numbers))))

    run(code, fake=False)
    assert set(ranges) == {"[0, 10]"}


def whole(value: Any, intervals: Intervals) -> Any:
    """Integers in the place of real numbers, with a range that is as narrow as can be."""
    if isinstance(value, list | tuple):
        return type(value)(whole(part, intervals) for part in value)
    if not isinstance(value, torch.Tensor) or value.dtype is torch.bool:
        return value
    value = value.long()
    return intervals.declare(value, int(value.min()), int(value.max()), "given") if value.numel() else value


def test_what_an_operator_gives_lies_in_the_range_that_its_row_leads_to() -> None:
    outside, known = [], 0
    for row, kind, of in places():
        is_of_tensors = of == "Tensor" or (of in ("torch", "torch.nn.functional") and kind == "functions")
        if not is_of_tensors or kind == "attributes" or row.facets.keys() & {"unchecked", "wraps", "no-gradients"}:
            continue
        intervals = Intervals(RULES)
        try:
            trial = Trial(row, kind, of, runs=False)
            with torch.no_grad(), intervals:
                result = trial.again(whole(trial.operand, intervals), whole(trial.args, intervals))
        except (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError):
            continue  # of real numbers only
        for part in tree_leaves(result):
            found = intervals.range_of(part) if isinstance(part, torch.Tensor) and part.numel() else None
            if found is not None:
                known += 1
                if not (found.low <= part.min() and part.max() <= found.high):
                    outside.append(f"{row.name}: {part.tolist()} in {found}")
    assert outside == []
    assert known > 100
