"""ML304 in a project that packs positions in a mixin and hands them to a library that cannot be read.

The shape is that of VILA at eb6f174: positions are counted, gathered in lists, padded with the index that a loss
ignores, returned among seven values, and handed to the `forward` of a library's class. What looks them up stands in a
file that is copied over the library's, or in a function that replaces a method of one of its classes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from modellint.packs import load_rules

if TYPE_CHECKING:
    from conftest import Workspace

PADDED = "padding_value=IGNORE_INDEX  # positions"

PACKING = f"""\
import torch
from torch.nn.utils.rnn import pad_sequence

from .constants import IGNORE_INDEX


class Packing:
    def repack(self, embeds, labels, mask, cache):
        lengths = mask.sum(dim=-1, dtype=torch.int32)
        ordered, order = torch.sort(lengths, descending=True)
        longest = embeds.shape[1]
        rows, positions, targets = [], [], []
        row, row_positions, row_targets = [], [], []
        used = 0
        for i in range(len(ordered)):
            length = ordered[i].item()
            if used + length <= longest:
                used += length
                row.append(embeds[order[i]][mask[order[i]]])
                row_positions.append(torch.arange(row[-1].shape[0], device=row[-1].device))
                row_targets.append(labels[order[i]][mask[order[i]]])
            else:
                rows.append(torch.cat(row, 0))
                positions.append(torch.cat(row_positions, 0))
                targets.append(torch.cat(row_targets, 0))
                used = length
                row = [embeds[order[i]][mask[order[i]]]]
                row_positions = [torch.arange(row[-1].shape[0], device=row[-1].device)]
                row_targets = [labels[order[i]][mask[order[i]]]]
        if len(row):
            rows.append(torch.cat(row, 0))
            positions.append(torch.cat(row_positions, 0))
            targets.append(torch.cat(row_targets, 0))
        rows = pad_sequence(rows, batch_first=True, padding_value=self.pad_id)
        positions = pad_sequence(
            positions,
            batch_first=True,
            {PADDED}
        )
        targets = pad_sequence(targets, batch_first=True, padding_value=IGNORE_INDEX)
        packed_mask = positions.ne(IGNORE_INDEX)
        assert packed_mask.sum() == mask.sum()
        return None, positions, packed_mask, cache, rows, targets, ordered
"""

CALLER = """\
from shelf import DecoderForCausalLM, DecoderModel

from ..packing import Packing


class ChatModel(DecoderModel):
    pass


class Chat(DecoderForCausalLM, Packing):
    def __init__(self, config):
        super(DecoderForCausalLM, self).__init__(config)
        self.model = ChatModel(config)

    def forward(self, ids=None, mask=None, position_ids=None, cache=None, embeds=None, labels=None):
        if embeds is None:
            embeds = self.model.embed(ids)
        if self.training:
            (_, new_positions, new_mask, _, new_embeds, new_labels, lengths) = self.repack(embeds, labels, mask, cache)
            new_ids = None
        else:
            new_positions, new_mask, new_embeds, new_labels = position_ids, mask, embeds, labels
            lengths, new_ids = mask.sum(-1).int(), ids
        return super().forward(
            ids=new_ids,
            mask=new_mask,
            position_ids=new_positions,
            embeds=new_embeds,
            labels=new_labels,
            lengths=lengths,
        )
"""

ROTATION = """\
def rotate(queries, keys, cos, sin, position_ids):
    cos = cos[position_ids].unsqueeze(1)
    sin = sin[position_ids].unsqueeze(1)
    return queries * cos, keys * sin
"""

COPIED = f"""\
import torch
from torch import nn

from ...hub import LibraryModel
from ...outputs import Output
from .settings import DecoderSettings


class Table(nn.Module):
    def __init__(self, dim, longest=2048):
        super().__init__()
        angles = torch.outer(torch.arange(longest), torch.arange(dim))
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)

    def forward(self, x, length):
        return self.cosines[:length].to(x.dtype), self.sines[:length].to(x.dtype)


{ROTATION}

class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.queries = nn.Linear(config.width, config.width)
        self.keys = nn.Linear(config.width, config.width)
        self.table = Table(config.width)

    def forward(self, x, mask=None, position_ids=None):
        queries, keys = self.queries(x), self.keys(x)
        cos, sin = self.table(queries, length=keys.shape[-2])
        return rotate(queries, keys, cos, sin, position_ids)


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = Attention(config)

    def forward(self, x, mask=None, position_ids=None):
        return self.attention(x=x, mask=mask, position_ids=position_ids)[0]


class DecoderBase(LibraryModel):
    settings = DecoderSettings


class DecoderModel(DecoderBase):
    def __init__(self, config):
        super().__init__(config)
        self.embed = nn.Embedding(config.words, config.width)
        self.layers = nn.ModuleList([Layer(config) for _ in range(config.depth)])

    def forward(self, ids=None, mask=None, position_ids=None, embeds=None):
        if position_ids is None:
            position_ids = torch.arange(embeds.shape[1], device=embeds.device).unsqueeze(0)
        if embeds is None:
            embeds = self.embed(ids)
        for layer in self.layers:
            embeds = layer(embeds, mask=mask, position_ids=position_ids)
        return embeds


class DecoderForCausalLM(DecoderBase):
    def __init__(self, config):
        super().__init__(config)
        self.model = DecoderModel(config)
        self.head = nn.Linear(config.width, config.words)

    def forward(self, ids=None, mask=None, position_ids=None, embeds=None, labels=None, lengths=None):
        return Output(self.head(self.model(ids=ids, mask=mask, position_ids=position_ids, embeds=embeds)))
"""

REPLACING = f"""\
import shelf.models.decoder.modeling_decoder as modeling

{ROTATION}

def forward(self, x, mask=None, position_ids=None, **options):
    queries, keys = self.queries(x), self.keys(x)
    cos, sin = self.table(queries, length=keys.shape[-2])
    queries, keys = rotate(queries, keys, cos, sin, position_ids)
    return self.output(queries @ keys.transpose(1, 2)), None


def install():
    modeling.Attention.forward = forward
"""

PROJECT = {
    "pyproject.toml": "",
    "chat/__init__.py": "",
    "chat/constants.py": "IGNORE_INDEX = -100\n",
    "chat/packing.py": PACKING,
    "chat/models/decoder.py": CALLER,
}
COPY = "chat/over_shelf/decoder/modeling_decoder.py"
REPLACEMENT = "chat/faster.py"
SET = REPLACING.replace("modeling.Attention.forward = forward", 'setattr(modeling.Attention, "forward", forward)')
MASK = "        packed_mask = positions.ne(IGNORE_INDEX)\n"
ROTATED = "    cos = cos[position_ids].unsqueeze(1)\n    sin = sin[position_ids].unsqueeze(1)\n"


def found(workspace: Workspace, *checked: str) -> list[tuple[str, str, int, list[str]]]:
    """The findings of ML304: their confidence, file and line, and the places that are related."""
    outcome = workspace.run("check", *checked, "--select", "ML304", "--no-cache", "--output-format", "json")
    return [
        (one["confidence"], one["path"], one["line"], [f"{r['path']}:{r['line']}" for r in one["related"]])
        for one in outcome.json["findings"]
    ]


def line_of(text: str, content: str) -> int:
    """The number of the only line of a file that has a content."""
    (line,) = (number for number, line in enumerate(content.splitlines(), 1) if text in line)
    return line


def written(workspace: Workspace, *changes: tuple[str, str]) -> None:
    """The project with the copied file, in which each of `changes` is made at the one place where it can be."""
    files = {**PROJECT, COPY: COPIED}
    for old, new in changes:
        (name,) = (name for name, content in files.items() if old in content)
        assert files[name].count(old) == 1
        files[name] = files[name].replace(old, new)
    workspace.write(files)


@pytest.mark.parametrize("checked", ["chat/packing.py", "chat/models/decoder.py", "."])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param(COPY, COPIED, id="in a copied file"),
        pytest.param(REPLACEMENT, REPLACING, id="in a method's replacement"),
        pytest.param(REPLACEMENT, SET, id="in one that is set"),
    ],
)
def test_padded_positions_are_looked_up_behind_a_library(
    workspace: Workspace, name: str, content: str, checked: str
) -> None:
    workspace.write({**PROJECT, name: content})
    ((confidence, path, line, related),) = found(workspace, checked)
    assert (confidence, path, line) == ("high", "chat/packing.py", line_of(PADDED, PACKING))
    assert f"{name}:{line_of('cos = cos[position_ids]', content)}" in related


def test_padded_positions_that_nobody_is_known_to_look_up(workspace: Workspace) -> None:
    workspace.write(PROJECT)
    ((confidence, path, line, _),) = found(workspace, ".")
    assert (confidence, path, line) == ("medium", "chat/packing.py", line_of(PADDED, PACKING))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([(MASK, "        packed_mask = positions != IGNORE_INDEX\n")], id="a mask by an operator"),
        pytest.param([(MASK, MASK + "        rows = rows[packed_mask]\n")], id="a mask that picks embeddings"),
        pytest.param([(MASK, MASK + "        rows = rows.masked_fill(~packed_mask[..., None], 0)\n")], id="fills them"),
        pytest.param([("if self.training:", "if self.training is True:")], id="training, said in another way"),
        pytest.param([("longest = embeds.shape[1]", "longest = embeds.size(1)")], id="a length, said in another way"),
    ],
)
def test_a_mask_that_is_made_of_positions_takes_nothing_out(
    workspace: Workspace, changes: list[tuple[str, str]]
) -> None:
    written(workspace, *changes)
    ((confidence, path, _, related),) = found(workspace, "chat/packing.py")
    assert (confidence, path) == ("high", "chat/packing.py")
    assert f"{COPY}:{line_of('cos = cos[position_ids]', COPIED)}" in related


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([(PADDED, "padding_value=0")], id="padded with 0"),
        pytest.param([(PADDED, "padding_value=-1")], id="padded with -1, the last row of any table"),
        *(
            pytest.param([(MASK, f"{MASK}        {after}\n")], id=after)
            for after in (
                "positions = torch.where(packed_mask, positions, 0)",
                "positions = positions.where(packed_mask, 0)",
                "positions = positions.masked_fill(~packed_mask, 0)",
                "positions.masked_fill_(packed_mask.logical_not(), 0)",
                "positions[~packed_mask] = 0",
                "positions = positions * packed_mask",
                "positions = positions.clamp(min=0)",
                "positions = positions[packed_mask].unsqueeze(0)",
                "positions = torch.masked_select(positions, packed_mask)",
                "assert packed_mask.all()",
                "assert not positions.eq(IGNORE_INDEX).any()",
            )
        ),
        pytest.param(
            [("position_ids=new_positions,", "position_ids=new_positions * new_mask,")],
            id="replaced by the caller",
        ),
        pytest.param(
            [
                (
                    "            new_ids = None\n",
                    "            new_ids = None\n            new_positions = new_positions.masked_fill(~new_mask, 0)\n",
                )
            ],
            id="filled by the caller",
        ),
        pytest.param(
            [(ROTATED, ROTATED.replace("[position_ids]", "[position_ids[position_ids.ne(-100)]]"))],
            id="looked up through the mask",
        ),
        pytest.param(
            [(ROTATED, ROTATED.replace("[position_ids]", "[position_ids.clamp(min=0)]"))], id="limited at the table"
        ),
    ],
)
def test_what_takes_the_padding_out_of_positions(workspace: Workspace, changes: list[tuple[str, str]]) -> None:
    written(workspace, *changes)
    assert found(workspace, ".") == []


def test_a_file_that_runs_where_it_stands_is_no_copy(workspace: Workspace) -> None:
    below = ("chat/hub.py", "chat/outputs.py", "chat/over_shelf/decoder/settings.py")
    workspace.write({**PROJECT, COPY: COPIED, **dict.fromkeys(below, "")})
    ((confidence, _, _, _),) = found(workspace, ".")
    assert confidence == "medium"


def test_fillers_of_other_files_are_theirs(workspace: Workspace) -> None:
    """A function of one name may be called anywhere: the fillers in those files are found when they are checked."""
    rule = type(load_rules()["ML304"])
    (example,) = (one for one in rule.bad if one.title == "Batches that a collate function pads")
    root = Path(__file__).parent.parent / "examples/vila/broken"
    own = {f"own/{path.name}": path.read_text("utf-8") for path in root.glob("*.py")}
    workspace.write(own | {f"other/{name}": text for name, text in example.files.items()})
    assert {path for path, _, _ in workspace.places("own")} == {"own/packing.py"}
    assert "other/train.py" in {path for path, _, _ in workspace.places()}
