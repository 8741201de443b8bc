"""Vocabularies, codecs and files that are not what they should be: silence or one ML001, and never a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

MODEL = """\
import torch
import torch.nn.functional as F
from torch import nn

from settings import Settings


class Speaker(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.table = nn.Embedding(settings.vocab_size, settings.width, padding_idx=settings.pad)
        self.head = nn.Linear(settings.width, settings.vocab_size + 64)

    def forward(self, hidden, mask):
        ids = self.head(hidden).argmax(-1)
        targets = ids.masked_fill(mask, settings_of(self).vocab_size)
        return self.table(ids), F.cross_entropy(self.head(hidden).flatten(0, 1), targets.flatten())


def settings_of(model):
    return Settings()


def build():
    return Speaker(Settings())
"""
SETTINGS = """\
from dataclasses import dataclass


@dataclass
class Settings:
    width: int = 8
    pad: int = 0
    vocab_size: int = {size}
"""
SIZES = (
    "'many'",
    "-5",
    "0",
    "10 ** 400",
    "1 << 20_000",
    "None",
    "float('nan')",
    "2.5",
    "[1, 2]",
    "vocab_size",
    "Settings",
    "int(__import__('os').environ['VOCAB'])",
)


def outcome(workspace: Workspace, *more: str) -> list[str]:
    """The codes that are found; it was a run without failures."""
    run = workspace.run("check", ".", "--no-cache", "--output-format", "json", "--preview", *more)
    assert run.code in (0, 1), run.err
    assert "internal error" not in run.err
    return [one["code"] for one in run.json["findings"]]


@pytest.mark.parametrize("size", SIZES)
def test_a_vocabulary_that_is_no_number_or_an_odd_one(workspace: Workspace, size: str) -> None:
    workspace.write({"model.py": MODEL, "settings.py": SETTINGS.format(size=size)})
    assert set(outcome(workspace)) <= {"ML103"}


def test_a_vocabulary_that_is_missing(workspace: Workspace) -> None:
    settings = SETTINGS.format(size=7).replace("    vocab_size: int = 7\n", "")
    workspace.write({"model.py": MODEL, "settings.py": settings})
    assert set(outcome(workspace)) <= {"ML103", "ML214"}


@pytest.mark.parametrize("value", ["many", "-5", "0", "1e400", "[1, 2]", "{}", "null", "'4096'", "9" * 5000, ".inf"])
def test_a_recipe_whose_vocabulary_is_no_number_or_an_odd_one(workspace: Workspace, value: str) -> None:
    recipe = f"""\
vocab_size: {value}
width: 8
embedding: !new:torch.nn.Embedding
    num_embeddings: !ref <vocab_size>
    embedding_dim: !ref <width>
    padding_idx: 3
head: !new:torch.nn.Linear
    in_features: !ref <width>
    out_features: !ref <vocab_size> + 64
"""
    workspace.write({"hyperparams.yaml": recipe})
    assert "ML103" not in outcome(workspace)


CODEC = """\
import torch
from {package} import {name}


def speak(model, hidden, checkpoint):
    codec = {made}
    ids = torch.nn.Linear(8, 5000)(hidden).argmax(-1)
    return codec.decode(ids), codec.quantizer.decode(ids)
"""


@pytest.mark.parametrize(
    ("package", "name", "made"),
    [
        ("snac", "Other", "Other.from_pretrained('hubertsiuzdak/snac_24khz')"),
        ("snac", "SNAC", "SNAC.from_nowhere('hubertsiuzdak/snac_24khz')"),
        ("codecs_of_mine", "SNAC", "SNAC.from_pretrained('mine/snac_9khz')"),
        ("transformers", "AutoModel", "AutoModel.from_pretrained('nobody/knows')"),
        ("transformers", "AutoModel", "AutoModel.from_pretrained(checkpoint)"),
        ("transformers", "AutoModel", "AutoModel.from_pretrained(4096)"),
        ("encodec", "EncodecModel", "EncodecModel.encodec_model_99khz()"),
        ("dac", "DAC", "DAC(codebook_size='many')"),
        ("dac", "DAC", "DAC(codebook_size=-1)"),
        ("dac", "DAC", "DAC(**checkpoint)"),
        ("moshi", "models", "models.loaders.get_mimi"),
    ],
)
def test_a_codec_of_an_unknown_name_or_size_is_no_table(
    workspace: Workspace, package: str, name: str, made: str
) -> None:
    workspace.write({"speak.py": CODEC.format(package=package, name=name, made=made)})
    assert outcome(workspace) == []


def test_a_published_codec_is_one(workspace: Workspace) -> None:
    made = "SNAC.from_pretrained('hubertsiuzdak/snac_24khz')"
    workspace.write({"speak.py": CODEC.format(package="snac", name="SNAC", made=made)})
    assert outcome(workspace) == ["ML103"]


RECURSION = {
    "first.py": """\
import torch
from torch import nn

from second import Decoder, again, ROWS


class Encoder(Decoder):
    rows = ROWS

    def __init__(self, rows=ROWS):
        super().__init__(rows)
        self.table = nn.Embedding(rows, 8)

    def forward(self, hidden):
        return self.table(again(self, hidden))


def draw(model, hidden):
    return again(model, hidden).argmax(-1)
""",
    "second.py": """\
import torch

import first
from first import Encoder, draw

ROWS = first.Encoder.rows + 1


class Decoder(Encoder):
    def __init__(self, rows=ROWS):
        super().__init__(rows)

    def decode(self, ids):
        return Encoder(ROWS).decode(self.decode(draw(self, ids)))


def again(model, hidden):
    return draw(model, again(model, model(hidden)))
""",
}


def test_files_whose_functions_classes_and_sizes_lead_back_to_each_other(workspace: Workspace) -> None:
    workspace.write(RECURSION)
    assert "ML001" not in outcome(workspace)
    assert "ML103" not in outcome(workspace)


def test_files_that_lead_back_to_each_other_do_not_hide_a_mistake(workspace: Workspace) -> None:
    mistake = """\
from torch import nn

from first import draw


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 300)
        self.table = nn.Embedding(256, 8)

    def forward(self, hidden):
        draw(self, hidden)
        return self.table(self.head(hidden).argmax(-1))
"""
    workspace.write({**RECURSION, "speaker.py": mistake})
    assert outcome(workspace).count("ML103") == 1
