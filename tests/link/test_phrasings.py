"""Ids that exceed a table are found however they are drawn and passed on, and left alone where they are limited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

MODEL = """\
import torch
import torch.nn.functional as F
from torch import nn


class Chooser:
    def __getattr__(self, name):
        return lambda *given: 0


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(4096, 64)
        self.head = nn.Linear(64, 4160)
        self.chooser = Chooser()

    def forward(self, x):
        logits = self.head(x)
        ids = {ids}
        return self.embedding(ids)
"""
DRAWN = """\
logits.argmax(-1)
logits.argmax(dim=-1)
torch.argmax(logits, -1)
torch.argmax(input=logits, dim=-1)
torch.Tensor.argmax(logits, -1)
logits.argmin(-1)
logits.max(-1)[1]
logits.max(-1).indices
torch.max(logits, -1)[1]
torch.max(logits, dim=-1).indices
logits.median(-1).indices
logits.kthvalue(2)[1]
logits.topk(1)[1]
torch.topk(logits, 1).indices
logits.sort(-1)[1]
logits.argsort(-1)
torch.argsort(logits, dim=-1)[..., 0]
torch.multinomial(logits.softmax(-1), 1)
logits.softmax(-1).multinomial(1)
torch.distributions.Categorical(logits=logits).sample()
logits.bfloat16().argmax(-1)
logits.type(torch.bfloat16).argmax(-1)
F.softmax(logits, -1).argmax(-1)
logits.abs().argmax(-1)
logits.log2().argmax(-1)
logits.square().argmax(-1)
logits.div_(0.7).argmax(-1)
logits.amax(1).argmax(-1)
logits.argmax(-1).ravel()
logits.argmax(-1).moveaxis(0, 1)
logits.argmax(-1).clamp_max(4100)
logits.argmax(-1).clamp_(max=4100)
torch.cat(tensors=[logits.argmax(-1)])
"""
LIMITED = """\
logits.argmax(-1).clamp(max=4095)
logits.argmax(-1).clamp_max(4095)
torch.clamp_max(logits.argmax(-1), 4095)
torch.remainder(logits.argmax(-1), 4096)
logits.max(dim=0)[1]
logits.max(0).indices
torch.argmax(logits, 0)
torch.topk(logits, 4, 0).indices
logits[..., :4096].max(-1).indices
logits.max(-1)[0].long()
self.chooser.argmax(logits)
self.chooser.max(logits)[1]
logits.values.indices
"""


@pytest.mark.parametrize("ids", DRAWN.splitlines())
def test_ids_that_are_drawn_are_found_however_it_is_said(workspace: Workspace, ids: str) -> None:
    workspace.write({"model.py": MODEL.format(ids=ids)})
    assert [code for _, _, code in workspace.places("model.py", "--select", "ML103")] == ["ML103"]


@pytest.mark.parametrize(
    "names", ["_, ids = logits.max(dim=-1)", "_, ids = torch.topk(logits, 1)", "_, ids = logits.sort()"]
)
def test_ids_of_a_pair_may_have_a_name(workspace: Workspace, names: str) -> None:
    workspace.write({"model.py": MODEL.replace("ids = {ids}", names)})
    assert [code for _, _, code in workspace.places("model.py", "--select", "ML103")] == ["ML103"]


@pytest.mark.parametrize("ids", LIMITED.splitlines())
def test_ids_that_are_limited_or_of_something_else_are_left_alone(workspace: Workspace, ids: str) -> None:
    workspace.write({"model.py": MODEL.format(ids=ids)})
    assert workspace.places("model.py", "--select", "ML103") == []


def test_the_row_for_padding_of_an_embedding_bag_is_its_tenth_argument(workspace: Workspace) -> None:
    bag = "nn.EmbeddingBag(8, 4, None, 2.0, False, 'sum', False, None, False, {})"
    for padding, count in ((8, 1), (7, 0)):
        workspace.write({"model.py": MODEL.replace("nn.Linear(64, 4160)", bag.format(padding))})
        assert len(workspace.places("model.py", "--select", "ML104")) == count


def test_a_method_may_reduce_a_dimension_before_the_last_one(workspace: Workspace) -> None:
    for scores, count in (("logits.amax(dim=1)", 1), ("logits.amax(dim=-1)", 0), ("logits.norm(2, 1)", 1)):
        workspace.write({"model.py": MODEL.format(ids=f"{scores}.argmax(-1)")})
        assert len(workspace.places("model.py", "--select", "ML103")) == count, scores


READY = """\
nn.Linear(8, 8).to_empty(device="cpu")
nn.Linear(8, 8).bfloat16().share_memory()
nn.utils.remove_spectral_norm(nn.Linear(8, 8))
weight_norm(nn.Linear(8, 8))
"""
LISTED = """\
from torch import nn
from torch.nn.utils.weight_norm import weight_norm


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [{layer} for _ in range(4)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""


@pytest.mark.parametrize("layer", READY.splitlines())
def test_what_makes_a_layer_ready_gives_the_layer(workspace: Workspace, layer: str) -> None:
    workspace.write({"model.py": LISTED.format(layer=layer)})
    assert workspace.places("model.py", "--select", "ML204") == [("model.py", 8, "ML204")]
