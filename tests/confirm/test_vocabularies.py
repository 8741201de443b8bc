"""Sizes that must agree, seen by building both sides: assumed numbers and what code makes good itself prove nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from served import served

from modellint.claims.layers import Outgrown, Tied
from modellint.claims.recipes import RowsLacking, SizesDiffer
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.claims import Claim

TIED = """
from torch import nn


class Model{number}(nn.Module):
    def __init__(self, n_tokens, n_others, width=8):
        super().__init__()
        self.embed = nn.Embedding({rows}, width)
        self.head = nn.Linear(width, {classes})
        {tie}
"""
TIES = [
    ("n_tokens", "n_tokens + 1", "self.head.weight = self.embed.weight", Status.CONFIRMED),
    ("8192", "8190", "self.embed.weight = self.head.weight", Status.CONFIRMED),
    ("n_tokens", "n_tokens", "self.head.weight = self.embed.weight", Status.REFUTED),
    ("n_tokens", "n_others", "self.head.weight = self.embed.weight", Status.UNCONFIRMED),
    ("n_tokens", "n_tokens + 1", "pass", Status.UNCONFIRMED),
]
GROWN = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, n_tokens):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, 4)


def build{number}(tokenizer, width):
    model = Model({size})
    {grow}
    return {gives}
"""
LATER = "tokenizer.add_tokens(['<a>', '<b>'])"
ANEW = f"{LATER}; model.embed = nn.Embedding(len(tokenizer), 4)"
IN_PLACE = f"{LATER}; model.embed.weight = nn.Parameter(torch.ones(len(tokenizer), 4))"
GROWTHS = [
    ("len(tokenizer)", LATER, "model", Status.CONFIRMED),
    ("tokenizer.vocab_size", LATER, "{'model': model}", Status.CONFIRMED),
    ("len(tokenizer) + 2", LATER, "model", Status.REFUTED),
    ("len(tokenizer)", ANEW, "model", Status.UNCONFIRMED),
    ("len(tokenizer)", IN_PLACE, "model", Status.REFUTED),
    ("len(tokenizer)", "tokenizer.add_special_tokens({'pad_token': tokenizer.eos_token})", "model", Status.UNCONFIRMED),
    ("len(tokenizer)", LATER, "None", Status.UNCONFIRMED),
    ("len(tokenizer)", "tokenizer.train('corpus')", "model", Status.UNCONFIRMED),
]
RECIPE = """\
head: !new:torch.nn.Linear [4, 10]
ctc: !new:torch.nn.Sequential
    - !new:torch.nn.Linear [4, 8]
    - !new:torch.nn.Linear [8, {classes}]
table: !new:torch.nn.Embedding [10, 4]
"""


def place_of(path: Path, text: str, occurrence: int = 0) -> Place:
    lines = path.read_text().splitlines()
    at = [number for number, line in enumerate(lines, 1) if text in line][occurrence]
    start = lines[at - 1].index(text) + 1
    return Place(path.as_posix(), Span(at, start, at, start + len(text)))


def statuses(path: Path, claims: list[tuple[str, Claim]]) -> list[Status]:
    """The verdicts on claims about what files define under some names, which share a process."""
    probes = tuple((number, Probe(Target(path, name), claim)) for number, (name, claim) in enumerate(claims))
    verdicts = answer(Group(Target(path), probes), served())
    print(verdicts)
    return [verdicts[number].status for number in range(len(claims))]


def test_layers_that_share_a_weight(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("".join(TIED.format(number=n, rows=r, classes=c, tie=t) for n, (r, c, t, _) in enumerate(TIES)))
    claims: list[tuple[str, Claim]] = []
    for number, (rows, classes, _, _) in enumerate(TIES):
        occurrence = sum(known[0] == rows for known in TIES[:number])
        table = place_of(path, f"nn.Embedding({rows}, width)", occurrence)
        head = f"nn.Linear(width, {classes})"
        linear = place_of(path, head, sum(known[1] == classes for known in TIES[:number]))
        claims.append((f"Model{number}", Tied(table, linear, table, f"Model{number}", is_declared=False)))
    assert statuses(path, claims) == [status for *_, status in TIES]


def test_tables_and_the_tokens_that_are_added(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("".join(GROWN.format(number=n, size=s, grow=g, gives=r) for n, (s, g, r, _) in enumerate(GROWTHS)))
    last = place_of(path, "nn.Embedding(n_tokens, 4)", len(GROWTHS) - 1)
    claims: list[tuple[str, Claim]] = [
        (f"build{number}", Outgrown(last, "tokenizer", last)) for number in range(len(GROWTHS))
    ]
    assert statuses(path, claims) == [status for *_, status in GROWTHS]


def test_the_ends_of_a_search(tmp_path: Path) -> None:
    path = tmp_path / "hparams.yaml"
    for classes, status in ((11, Status.CONFIRMED), (10, Status.REFUTED)):
        path.write_text(RECIPE.format(classes=classes))
        place = Place(path.as_posix(), Span(1, 1, 1, 1))
        claims: list[Claim] = [SizesDiffer(place, "head", key) for key in ("ctc", "table", "nothing")]
        expected = [status, Status.UNCONFIRMED, Status.UNCONFIRMED]
        claims += [RowsLacking(place, key, "table") for key in ("ctc", "head", "table")]
        expected += [status, Status.REFUTED, Status.UNCONFIRMED]
        assert statuses(path, [("", claim) for claim in claims]) == expected
