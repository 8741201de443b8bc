"""The mutation harness: what it plants, what it leaves alone, and how it counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import mutants
import pytest
from effort import in_full
from planting.catalogue import load
from planting.source import Edit, Source, applied

if TYPE_CHECKING:
    from pathlib import Path

    from planting.catalogue import Mutant

CATALOGUE = load()

LAYERS = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.ones(width))
        self.register_buffer("shift", torch.arange(4.0))

    def forward(self, x):
        return self.linear(x) * self.scale + x * self.shift


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.width = width
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.heads = nn.ModuleDict({"a": nn.Linear(width, 2)})
        self.drops = nn.ModuleList([nn.Dropout(0.1) for _ in range(depth)])
        self.unused = nn.ModuleList([Block(width) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        for block, drop in zip(self.blocks, self.drops):
            x = drop(block(x))
        return self.heads["a"](self.norm(x))
"""

TABLES = """\
import torch
from torch import nn


class Text(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.vocab_size, config.width)
        self.queries = nn.Embedding(config.n_queries, config.width)
        self.linear = nn.Linear(config.width, config.width)
        self.head = nn.Linear(config.width, config.vocab_size)
        self.project = nn.Linear(config.width, config.vocab_size)

    def forward(self, ids, attention_mask):
        states = self.linear(self.words(ids))
        return self.project(states) + self.head(self.queries.weight)
"""

ROTARY = """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, longest=2048):
        super().__init__()
        self.dim = dim
        self.longest = longest
        self.build(longest)

    def build(self, longest):
        angles = torch.arange(longest)[:, None] / 10000.0 ** (torch.arange(0, self.dim, 2) / self.dim)
        self.register_buffer("cosines", angles.cos())
        self.longest = longest

    def forward(self, x, seq_len):
        if seq_len > self.longest:
            self.build(seq_len)
        return self.cosines[:seq_len]


def turn(query, cos, sin, position_ids):
    return query * cos[position_ids] + query * sin[position_ids]


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)

    def forward(self, query, position_ids, past):
        length = query.shape[-2]
        if past is not None:
            length += past.shape[-2]
        cos, sin = self.rotary(query, seq_len=length)
        return turn(query, cos, sin, position_ids)
"""


SIZES = """\
def fitting(height, width, patch):
    return max(patch, height // patch * patch), max(patch, width - width % patch)
"""

SEGMENTS = """\
import torch
from torch import nn


class Segments(nn.Module):
    def __init__(self, n, width, longest):
        super().__init__()
        self.n = n
        self.kinds = nn.Embedding(n, width)
        self.places = nn.Embedding(longest, width)

    def forward(self, ids, mask, kinds=None):
        if kinds is None:
            kinds = torch.zeros(ids.shape, dtype=torch.long)
        others = torch.zeros(ids.shape, dtype=torch.long)
        if self.training:
            others = torch.zeros(ids.shape, dtype=torch.long)
        position_ids = mask.cumsum(-1) - 1
        position_ids.masked_fill_(mask == 0, 1)
        mask.masked_fill_(mask == 0, 1)
        return self.kinds(kinds) + self.places(position_ids), others
"""


def planted(name: str, text: str) -> list[tuple[str, Mutant]]:
    """The mutated texts, with what planted them."""
    source = Source(text.encode())
    found = [(mutant.after(source).decode(), mutant) for mutant in CATALOGUE[name].sites(source)]
    for after, _ in found:
        compile(after, "<mutant>", "exec")
    return found


def changed(text: str, after: str) -> set[str]:
    """The lines that only the mutant has."""
    return {line.strip() for line in set(after.splitlines()) - set(text.splitlines())}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("unwrap-module-list", LAYERS, [{"self.blocks = [Block(width) for _ in range(depth)]"}]),
        ("unwrap-module-dict", LAYERS, [{'self.heads = {"a": nn.Linear(width, 2)}'}]),
        ("trailing-comma", LAYERS, [{"self.linear = nn.Linear(width, width),"}, {"self.norm = nn.LayerNorm(width),"}]),
        ("parameter-made-a-tensor", LAYERS, [{"self.scale = nn.Parameter(torch.ones(width)).cuda()"}]),
        ("buffer-made-a-tensor", LAYERS, [{"self.shift = torch.arange(4.0)"}]),
        ("layer-into-forward", LAYERS, [{'return self.heads["a"](nn.LayerNorm(self.width)(x))'}]),
        ("layer-made-anew-in-forward", LAYERS, [{"self.norm = nn.LayerNorm(self.width)"}]),
        ("swap-embedding-arguments", TABLES, [{"self.words = nn.Embedding(config.width, config.vocab_size)"}]),
        ("size-by-width", TABLES, [{"self.words = nn.Embedding(config.width, config.width)"}]),
        (
            "linear-made-an-embedding",
            TABLES,
            [{"self.project = nn.Embedding(config.width, config.vocab_size)"}],
        ),
        ("feed-real-numbers", TABLES, [{"states = self.linear(self.words(ids.float()))"}]),
        (
            "padding-index-of-no-row",
            TABLES,
            [{"self.words = nn.Embedding(config.vocab_size, config.width, padding_idx=config.vocab_size)"}],
        ),
        (
            "pad-with-no-row",
            TABLES,
            [{"states = self.linear(self.words(torch.nn.functional.pad(ids, (0, 1), value=-1)))"}],
        ),
        (
            "let-one-id-too-many-through",
            TABLES,
            [{"states = self.linear(self.words(ids.clamp(0, self.config.vocab_size)))"}],
        ),
        ("offset-a-length", ROTARY, [{"cos, sin = self.rotary(query, seq_len=length + 10)"}]),
        ("offset-a-slice", ROTARY, [{"return self.cosines[:seq_len + 10]"}]),
        ("length-without-the-past", ROTARY, [{"cos, sin = self.rotary(query, seq_len=query.shape[-2])"}]),
        ("drop-a-growth-guard", ROTARY, [set()]),
        ("drop-a-lower-bound", SIZES, [{"return height // patch * patch, max(patch, width - width % patch)"}]),
        ("fill-with-no-row", SEGMENTS, [{"kinds = torch.full(ids.shape, self.n, dtype=torch.long)"}]),
        ("fill-positions-with-a-sentinel", SEGMENTS, [{"position_ids.masked_fill_(mask == 0, -100)"}]),
        (
            "pad-rotary-positions-with-a-sentinel",
            ROTARY,
            [{"return turn(query, cos, sin, torch.nn.functional.pad(position_ids, (0, 1), value=-100))"}],
        ),
    ],
)
def test_a_mistake_is_planted_where_it_is_one_and_nowhere_else(name: str, text: str, expected: list[set[str]]) -> None:
    assert [changed(text, after) for after, _ in planted(name, text)] == expected


def test_a_moved_layer_leaves_the_constructor() -> None:
    [(after, mutant)] = planted("layer-made-anew-in-forward", LAYERS)
    line = "        self.norm = nn.LayerNorm(self.width)"
    assert line in after.splitlines()
    assert "nn.LayerNorm(width)" not in after
    number = after.splitlines().index(line) + 1
    assert mutant.lines(Source(LAYERS.encode())) == [(number, number)]


def test_the_guard_that_is_dropped_is_due_where_the_table_is_built() -> None:
    [(after, mutant)] = planted("drop-a-growth-guard", ROTARY)
    assert "if seq_len" not in after
    lines = after.splitlines()
    due = {lines[first - 1].strip() for first, _ in mutant.lines(Source(ROTARY.encode()))}
    assert due == {"self.build(longest)", 'self.register_buffer("cosines", angles.cos())'}


@pytest.mark.parametrize("name", ["widen-a-head", "drop-a-logits-slice", "drop-a-clamp-of-ids"])
def test_a_head_that_is_too_wide_is_compared_with_a_correct_one(name: str) -> None:
    for after, mutant in planted(name, TABLES):
        before = mutant.before(Source(TABLES.encode())).decode()
        compile(before, "<correct>", "exec")
        assert "draw_and_embed" in before
        assert "config.vocab_size + 8" in after
        assert "return self.words(token)" in after.splitlines()[mutant.lines(Source(TABLES.encode()))[0][0] - 1]
        if name != "widen-a-head":
            kept = changed(after, before)
            assert len(kept) == 1
            assert "self.config.vocab_size" in kept.pop()


def test_edits_are_applied_by_bytes() -> None:
    source = Source("größe = nn.Linear(ä, 1)  # ö\n".encode())
    call = source.tree.body[0].value  # type: ignore[attr-defined]
    edits = (source.replace(call.args[0], "ü"), source.after(call, ","), Edit(0, 0, "# é\n"))
    assert applied(source.data, edits).decode() == "# é\ngröße = nn.Linear(ü, 1),  # ö\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    for name, text in (("layers", LAYERS), ("tables", TABLES), ("rotary", ROTARY)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "broken.py").write_text("import torch.nn as nn\nnn.Embedding(\n", encoding="utf-8")
    return folder


def run(package: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, Any]:
    survivors = package.parent / "survivors.json"
    mutants.main(["--packages", str(package), "--survivors", str(survivors), *arguments])
    return capsys.readouterr().out, json.loads(survivors.read_text(encoding="utf-8"))


@in_full
def test_a_run_counts_what_is_found_and_lists_the_rest(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, survivors = run(package, capsys, "--jobs", "1", "--only", "ML102", "--only", "ML304")
    assert "| ML102 | 2 | 2 | 100.0 % |  |" in out
    assert "ML101" not in out
    assert all(survivor["reason"] != "found" and survivor["diff"] for survivor in survivors)
    shown = next(line for line in out.splitlines() if line.startswith("| ML304 "))
    total, found = (int(cell) for cell in shown.split("|")[2:4])
    assert total - found == len(survivors)


@in_full
def test_the_same_seed_gives_the_same_mutants_whatever_the_number_of_processes(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = run(package, capsys, "--jobs", "1", "--mutants", "6", "--seed", "3")
    again = run(package, capsys, "--jobs", "2", "--mutants", "6", "--seed", "3")
    assert once == again
    assert once[0].startswith("6 mutants in 1 packages, seed 3")


def test_copies_of_a_statement_are_used_a_few_times_only() -> None:
    sites = [mutants.Site("package", f"file{n}.py", "trailing-comma", 0, "self.a = nn.Linear(1, 1)") for n in range(9)]
    assert len(mutants.choose(sites, 100, seed=0, copies=2)) == 2
