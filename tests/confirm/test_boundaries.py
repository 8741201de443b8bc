"""Functions run at the ends of what they are made for: what fails there confirms, and what holds never does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from served import served

from modellint.claims.positions import (
    GridEmpty,
    LengthNotPositions,
    NegativeFiller,
    RowsDiffer,
    StepBeyond,
    TableEnds,
    TableShort,
)
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status, Verdict
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.claims import Claim


LOOKUP = "table[position_ids]"


def place_of(path: Path, text: str) -> Place:
    """The place of a text that occurs once in a file."""
    lines = path.read_text().splitlines()
    found = [(number, line.index(text)) for number, line in enumerate(lines, 1) if text in line]
    assert len(found) == 1, (text, found)
    line, column = found[0]
    return Place(path.as_posix(), Span(line, column + 1, line, column + 1 + len(text)))


def verdict_of(
    folder: Path, code: str, kind: type[Claim], name: str, place: str, lookup: str = "", users: Any = (), **data: Any
) -> Verdict:
    """The verdict on a claim about the expression `place` in a file, whose lookup is the expression `lookup`."""
    path = folder / "model.py"
    path.write_text(code)
    if kind not in (GridEmpty, TableShort):
        data["lookup"] = place_of(path, lookup) if lookup else None
    target = Target(path, name)
    probe = Probe(target, kind(place_of(path, place), **data), (target,), tuple(users))
    return answer(Group(target, ((0, probe),)), served())[0]


def says(verdict: Verdict, *facts: str) -> bool:
    return verdict.device == "cpu" and all(fact in str(verdict.detail) for fact in facts)


# -- positions against the length of a table --------------------------------------------------------------------------

ROTARY = """
import torch
from torch import nn


class Attention(nn.Module):
    def forward(self, q, position_ids):
        size = {size}
        table = torch.arange(size)[:, None].float()
        return q * table[position_ids].cos()
"""


def positions_verdict(folder: Path, size: str, *, offset: bool) -> Verdict:
    code = ROTARY.format(size=size)
    return verdict_of(
        folder, code, LengthNotPositions, "Attention.forward", size, LOOKUP, asking=None, is_offset=offset
    )


def test_positions_run_as_far_ahead_of_the_length_as_the_offset_allows(tmp_path: Path) -> None:
    verdict = positions_verdict(tmp_path, "q.shape[1] + 10", offset=True)
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(verdict, "length 1: positions up to 10 pass, position 11 fails (id 11 in 11 rows): IndexError")


@pytest.mark.dear
@pytest.mark.parametrize(
    "size",
    ["position_ids.max() + 1", "max(q.shape[1] + 10, int(position_ids.max()) + 1)", "int(position_ids.max()) + 10"],
)
def test_a_table_that_grows_with_the_positions_is_refuted(tmp_path: Path, size: str) -> None:
    verdict = positions_verdict(tmp_path, size, offset=True)
    assert verdict.status is Status.REFUTED, verdict


def test_a_size_that_is_not_that_of_the_table_confirms_nothing(tmp_path: Path) -> None:
    code = ROTARY.format(size="q.shape[1] + 10").replace("torch.arange(size)", "torch.arange(size - size + 40)")
    found = verdict_of(
        tmp_path,
        code,
        LengthNotPositions,
        "Attention.forward",
        "q.shape[1] + 10",
        LOOKUP,
        asking=None,
        is_offset=True,
    )
    assert found.status is not Status.CONFIRMED, found


def test_packed_positions_do_not_end_with_the_largest(tmp_path: Path) -> None:
    verdict = positions_verdict(tmp_path, "int(position_ids[:, -1].max()) + 1", offset=False)
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(verdict, "packed ones (0, 1, 2, 0, 1) do not (ids from 0 to 2 in 2 rows): IndexError")


def test_a_row_to_spare_is_seen_where_the_length_decides(tmp_path: Path) -> None:
    verdict = positions_verdict(tmp_path, "max(q.shape[1], int(position_ids.max())) + 1", offset=False)
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(verdict, "positions up to 4 get 6 rows, one more than they or the length need")


def test_a_maximum_of_what_is_needed_has_no_row_to_spare(tmp_path: Path) -> None:
    verdict = positions_verdict(tmp_path, "max(q.shape[1], int(position_ids.max()) + 1)", offset=False)
    assert verdict.status is not Status.CONFIRMED, verdict


STEP = """
import torch
from torch import nn


class Attention(nn.Module):
    def forward(self, q, k, position_ids, past=None):
        size = k.shape[-2]
        {between}
        table = torch.arange(size)[:, None].float()
        k = k * table[position_ids].cos()
        if past is not None:
            k = torch.cat([past[0], k], dim=-2)
        return q @ k.transpose(-1, -2)
"""


def step_verdict(folder: Path, between: str) -> Verdict:
    code = STEP.format(between=between)
    return verdict_of(folder, code, StepBeyond, "Attention.forward", "k.shape[-2]", LOOKUP, past=("past",))


def test_a_step_with_tokens_kept_is_beyond_the_length_of_the_input(tmp_path: Path) -> None:
    verdict = step_verdict(tmp_path, "pass")
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(
        verdict, "5 tokens at once pass; a step at position 5 with 5 tokens kept fails (id 5 in 1 row): IndexError"
    )


@pytest.mark.parametrize(
    "between", ["size += 0 if past is None else past[0].shape[-2]", "size = int(position_ids.max()) + 1"]
)
def test_a_length_that_counts_what_was_kept_is_refuted(tmp_path: Path, between: str) -> None:
    verdict = step_verdict(tmp_path, between)
    assert verdict.status is Status.REFUTED, verdict


# -- tables of a fixed length -----------------------------------------------------------------------------------------

TABLE = """
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, rows=40):
        super().__init__()
        self.rows = rows
        self.embed = nn.Embedding(rows, 8)
        self.register_buffer("table", torch.zeros(1, rows, 8))

    def forward(self, x):
        {between}
        {result}
"""
EMBEDDED = ("return x + self.embed(torch.arange(x.shape[1]))", "self.embed(torch.arange(x.shape[1]))")
SLICED = ("return x + self.table[:, : x.shape[1]]", "self.table[:, : x.shape[1]]")


def table_verdict(folder: Path, result: str, use: str, between: str = "pass") -> Verdict:
    code = TABLE.format(between=between, result=result)
    return verdict_of(folder, code, TableEnds, "Positions.forward", use, use)


@pytest.mark.parametrize(("result", "use"), [EMBEDDED, SLICED])
def test_one_more_position_than_rows_fails(tmp_path: Path, result: str, use: str) -> None:
    verdict = table_verdict(tmp_path, result, use)
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(verdict, "length 39 and 40 pass, 41 fails (", " 40 rows): ")


def test_a_slice_that_comes_out_short_is_seen_without_an_error(tmp_path: Path) -> None:
    verdict = table_verdict(tmp_path, "return self.table[:, : x.shape[1]]", SLICED[1])
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(verdict, "41 gets no more than 40 (a slice of 41 of 40 rows)")


@pytest.mark.parametrize(
    "between",
    [
        "assert x.shape[1] <= self.rows, 'too long'",
        "x = x[:, : self.rows]",
        "self.table, self.embed = torch.zeros(1, x.shape[1], 8), nn.Embedding(x.shape[1], 8)",
    ],
)
@pytest.mark.parametrize(("result", "use"), [EMBEDDED, SLICED])
def test_a_length_that_is_refused_cut_or_provided_for_never_confirms(
    tmp_path: Path, result: str, use: str, between: str
) -> None:
    verdict = table_verdict(tmp_path, result, use, between)
    assert verdict.status is not Status.CONFIRMED, verdict


def test_a_refusal_after_the_slice_is_no_failure(tmp_path: Path) -> None:
    code = """
import torch


class Positions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.zeros(1, 40, 8)

    def forward(self, x):
        table = self.table[:, : x.shape[1]]
        if table.shape[1] < x.shape[1]:
            raise ValueError("at most 40 positions")
        return x + table
"""
    verdict = verdict_of(tmp_path, code, TableEnds, "Positions.forward", SLICED[1], SLICED[1])
    assert verdict.status is Status.UNCONFIRMED, verdict
    assert "at most 40 positions" in str(verdict.detail)


def test_a_number_that_picks_a_row_is_a_position(tmp_path: Path) -> None:
    use = "self.embed.weight[x.shape[1]]"
    verdict = table_verdict(tmp_path, f"return x + {use}", use)
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(verdict, "length 38 and 39 pass, 40 fails (id 40 in 40 rows): IndexError")


# -- another number of rows than positions ----------------------------------------------------------------------------

PATCHES = """
import torch
from torch import nn


class Vision(nn.Module):
    def __init__(self, side=96, patch=16):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, 8))
        self.table = nn.Parameter(torch.zeros(1, (side // patch) ** 2{rows}, 8))
        self.embed = nn.Embedding((side // patch) ** 2{rows}, 8)

    def forward(self, image):
        x = self.conv(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(len(x), -1, -1), x), 1)
        return {result}
"""


@pytest.mark.parametrize(
    ("result", "use", "fact"),
    [
        ("x + self.table", "x + self.table", "The size of tensor a (37) must match the size of tensor b (36)"),
        ("self.table + x", "self.table + x", "The size of tensor a (36) must match the size of tensor b (37)"),
        (
            "x + self.embed(torch.arange(x.shape[1]))",
            "self.embed(torch.arange(x.shape[1]))",
            "ids from 0 to 36 in 36 rows: IndexError",
        ),
    ],
)
@pytest.mark.parametrize("rows", ["", " + 1"])
def test_a_token_before_patches_has_no_row(tmp_path: Path, result: str, use: str, fact: str, rows: str) -> None:
    verdict = verdict_of(
        tmp_path, PATCHES.format(rows=rows, result=result), RowsDiffer, "Vision.forward", use, use, more=1
    )
    if rows:
        assert verdict.status is not Status.CONFIRMED, verdict
    else:
        assert verdict.status is Status.CONFIRMED, verdict
        assert says(verdict, fact)


COUNTED = """
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length{default}):
        super().__init__()
        self.length = length
        self.embed = nn.Embedding(length, 8)

    def forward(self, x):
        ids = {ids}
        return x + self.embed(ids)
"""


@pytest.mark.parametrize(
    ("ids", "default", "status"),
    [
        ("torch.arange(self.length) + 1", "", Status.CONFIRMED),
        ("torch.arange(x.shape[1]) + self.length - 5", "", Status.UNCONFIRMED),
        ("torch.arange(self.length)", "", Status.UNCONFIRMED),
        ("torch.arange(self.length)", "=5", Status.REFUTED),
    ],
)
def test_positions_that_the_constructor_counts(tmp_path: Path, ids: str, default: str, status: Status) -> None:
    code = COUNTED.format(ids=ids, default=default)
    verdict = verdict_of(tmp_path, code, RowsDiffer, "Positions.forward", "self.embed(ids)", "self.embed(ids)")
    assert verdict.status is status, verdict


# -- a table that is combined with more rows than it has --------------------------------------------------------------

COMBINED = """
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, window=12):
        super().__init__()
        self.window = window
        self.projection = nn.Linear(8, 8)

    def table(self, rows):
        return torch.arange(rows)[:, None] * torch.ones(8)

    def forward(self, x, past=None):
        x = self.projection(x)
        keys = x if past is None else torch.cat((past, x), 1)
        rows = self.table({rows})
        return x.mean() + keys * rows
"""


@pytest.mark.parametrize(
    ("rows", "is_kept", "fact"),
    [
        ("min(x.shape[1], self.window)", False, "length 12 passes, 13 fails: RuntimeError: The size of tensor a (13)"),
        ("min(x.shape[1], 3)", False, "length 3 passes, 4 fails"),
        ("x.shape[1]", True, "5 tokens pass; with 5 earlier ones in `past`: RuntimeError: The size of tensor a (10)"),
        ("x.shape[1]", False, ""),
        ("keys.shape[1]", True, ""),
    ],
)
def test_a_table_that_is_too_short(tmp_path: Path, rows: str, is_kept: bool, fact: str) -> None:
    code, place = COMBINED.format(rows=rows), f"self.table({rows})"
    verdict = verdict_of(tmp_path, code, TableShort, "Attention.forward", place, is_kept=is_kept)
    assert verdict.status is (Status.CONFIRMED if fact else Status.UNCONFIRMED), verdict
    assert not fact or says(verdict, fact)


# -- fillers that are no position -------------------------------------------------------------------------------------

PACKING = """
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


def collate(rows):
    ids = pad_sequence([row["ids"] for row in rows], batch_first=True)
    position_ids = pad_sequence([row["position_ids"] for row in rows], batch_first=True, padding_value={filler})
    return {{"ids": ids, "position_ids": position_ids}}


class Decoder(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Embedding(10, width)

    def forward(self, ids, position_ids):
        table = torch.arange(ids.shape[1])[:, None].float()
        {between}
        return self.embed(ids) * table[position_ids].cos()


def train(rows):
    return Decoder()(**collate(rows))
"""


def packing_verdict(folder: Path, between: str) -> Verdict:
    code = PACKING.format(filler="-100", between=between)
    users = [(folder / "model.py").as_posix()]
    return verdict_of(folder, code, NegativeFiller, "collate", "-100", users=users)


def test_a_filler_fails_below_its_size_and_takes_another_row_from_there_on(tmp_path: Path) -> None:
    verdict = packing_verdict(tmp_path, "pass")
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(
        verdict, "`Decoder` is given what it returns: length 99 fails (ids from -100 to 98 in 99 rows): IndexError"
    )
    assert says(verdict, "length 100 passes, and takes row 0 of 100 for -100")
    assert says(verdict, "rows = examples 5")


def test_a_filler_that_is_taken_out_before_the_lookup_never_confirms(tmp_path: Path) -> None:
    verdict = packing_verdict(tmp_path, "position_ids = position_ids.clamp(min=0)")
    assert verdict.status is Status.UNCONFIRMED, verdict


@pytest.mark.parametrize(("users", "status"), [([], Status.CONFIRMED), (["model.py"], Status.UNCONFIRMED)])
def test_what_nobody_in_the_project_takes_is_judged_as_positions(
    tmp_path: Path, users: list[str], status: Status
) -> None:
    code = """
import torch
from torch.nn.utils.rnn import pad_sequence


def pack(lengths):
    return pad_sequence([torch.arange(n) for n in lengths], batch_first=True, padding_value=-100)
"""
    paths = [(tmp_path / user).as_posix() for user in users]
    verdict = verdict_of(tmp_path, code, NegativeFiller, "pack", "-100", users=paths)
    assert verdict.status is status, verdict


def test_ids_that_have_no_row_themselves_prove_nothing_of_the_filler(tmp_path: Path) -> None:
    code = """
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(3, 8)

    def forward(self, positions, mask):
        positions = positions.masked_fill(mask, -100)
        return self.embed(positions)
"""
    verdict = verdict_of(tmp_path, code, NegativeFiller, "Encoder.forward", "-100", "self.embed(positions)", users=[])
    assert verdict.status is not Status.CONFIRMED, verdict


# -- grids of patches -------------------------------------------------------------------------------------------------

PROCESSOR = """
class Processor:
    def __init__(self, patch=16):
        self.patch = patch

    def preprocess(self, image):
        height, width = image.shape[-2:]
        rows = {rows}
        {between}
        columns = -(-width // self.patch)
        image = image[..., : rows * self.patch, : columns * self.patch]
        return image.reshape(-1, rows, self.patch, width)
"""


def grid_of(folder: Path, code: str, name: str, place: str) -> Verdict:
    path = folder / "model.py"
    path.write_text(code)
    measured = place_of(path, place)
    return verdict_of(folder, code, GridEmpty, name, place, measured=measured, used=measured)


def grid_verdict(folder: Path, rows: str, between: str = "pass") -> Verdict:
    code = PROCESSOR.format(rows=rows, between=between)
    return grid_of(folder, code, "Processor.preprocess", "height // self.patch")


def test_the_first_side_below_a_patch_fails(tmp_path: Path) -> None:
    verdict = grid_verdict(tmp_path, "height // self.patch")
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(verdict, "an image of 16 x 16 gets a grid; of one of 15 x 15, a side becomes 0: RuntimeError")


@pytest.mark.dear
@pytest.mark.parametrize(
    ("rows", "between"),
    [
        ("max(1, height // self.patch)", "image = image.expand(2, *image.shape).repeat(1, 1, 16, 1)"),
        ("height // self.patch", "assert rows, 'the image is too small'"),
        ("height // self.patch or 1", "return rows"),
    ],
)
def test_a_side_that_is_kept_or_refused_never_confirms(tmp_path: Path, rows: str, between: str) -> None:
    verdict = grid_verdict(tmp_path, rows, between)
    assert verdict.status is not Status.CONFIRMED, verdict


def test_sizes_alone_are_enough(tmp_path: Path) -> None:
    code = "def fitting(height, width, factor=28):\n    return round(height / factor) * factor, width\n"
    verdict = grid_of(tmp_path, code, "fitting", "round(height / factor)")
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(verdict, "an image of 15 x 15 gets a grid; of one of 14 x 14, a side becomes 0: it returns (0, 14)")


def test_sequences_may_come_first_in_a_tensor(tmp_path: Path) -> None:
    code = """
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, rows=40):
        super().__init__()
        self.register_buffer("table", torch.zeros(rows, 1, width))

    def forward(self, x):
        return x + self.table[: x.size(0)]
"""
    use = "self.table[: x.size(0)]"
    verdict = verdict_of(tmp_path, code, TableEnds, "Positions.forward", use, use)
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(verdict, "dimension 0 of `x`: 39 and 40 pass, 41 fails (a slice of 41 of 40 rows): RuntimeError")


def test_constructors_that_hand_on_and_settings_in_settings_are_built(tmp_path: Path) -> None:
    code = """
import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.register_buffer("table", torch.zeros(40, config.text.width))
        self.kinds = nn.Embedding(len(config.kinds), config.text.width)


class Positions(Base):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

    def forward(self, x):
        return x + self.table[: x.size(1)]
"""
    use = "self.table[: x.size(1)]"
    verdict = verdict_of(tmp_path, code, TableEnds, "Positions.forward", use, use)
    assert verdict.status is Status.CONFIRMED, verdict
    assert says(verdict, "length 39 and 40 pass, 41 fails", "width = 64")
