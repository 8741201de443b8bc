"""Which tables are said to be sized by features, and which are not, however they are made, kept and looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F


"""
BAD = {
    "in-a-module-dict": """\
class A(nn.Module):
    def __init__(self, feat_dim, d):
        super().__init__()
        self.parts = nn.ModuleDict({"embed": nn.Embedding(feat_dim, d), "skip": nn.Linear(feat_dim, d)})

    def forward(self, feats):
        return self.parts["embed"](feats) + self.parts["skip"](feats)
""",
    "at-the-front-of-a-sequential": """\
class B(nn.Module):
    def __init__(self, n_mels, d):
        super().__init__()
        self.front = nn.Sequential(nn.Embedding(n_mels, d), nn.ReLU())
        self.skip = nn.Linear(n_mels, d)

    def forward(self, mel):
        return self.front(mel) + self.skip(mel)
""",
    "taken-by-a-block": """\
class C(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.table = nn.Embedding(width, classes)
        self.block = Inner(width)

    def forward(self, y):
        return self.block(self.table(y))


class Inner(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x)
""",
    "built-later": """\
class D(nn.Module):
    def __init__(self, input_dim, d):
        super().__init__()
        self.input_dim = input_dim
        self.d = d

    def build(self):
        self.embed = nn.Embedding(self.input_dim, self.d)

    def forward(self, x):
        '''x: (batch, time, input_dim)'''
        return self.embed(x)
""",
    "through-a-method": """\
class E(nn.Module):
    def __init__(self, n_feats, d):
        super().__init__()
        self.embed, self.skip = nn.Embedding(n_feats, d), nn.Linear(n_feats, d)

    def encode(self, z):
        e = self.embed
        return e(z.long())

    def forward(self, batch):
        return self.encode(batch) + self.skip(batch)
""",
    "sized-by-the-subclass": """\
class Base(nn.Module):
    def __init__(self, rows, cols):
        super().__init__()
        self.table = nn.Embedding(rows, cols)
        self.norm = nn.LayerNorm(cols)


class F(Base):
    def __init__(self, hidden_size, vocab_size):
        super().__init__(rows=hidden_size, cols=vocab_size)
        self.up = nn.Linear(hidden_size, hidden_size)

    def forward(self, ids):
        return self.table(ids)
""",
}

GOOD = {
    "sizes-by-key": """\
class DictConfig(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config["vocab"], config["hidden"])
        self.norm = nn.LayerNorm(config["hidden"])
        self.up = nn.Linear(config["hidden"], config["vocab"])

    def forward(self, ids):
        return self.up(self.norm(self.embed(ids)))
""",
    "sizes-by-get": """\
class Got(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.get("steps", 9), cfg.get("hidden"))
        self.up = nn.Linear(cfg.get("hidden", 64), cfg.pop("out"))

    def forward(self, ids):
        return self.up(self.embed(ids))
""",
    "sizes-by-place": """\
class Indexed(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.embed = nn.Embedding(sizes[0], sizes[1])
        self.norm = nn.LayerNorm(sizes[1])

    def forward(self, ids):
        return self.norm(self.embed(ids))
""",
    "a-table-each": """\
class Loop(nn.Module):
    def __init__(self, cards, dim):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(n, n) for n in cards])
        self.lin = nn.ModuleList([nn.Linear(n, dim) for n in cards])

    def forward(self, ids):
        return sum(lin(table(ids[:, i])) for i, (table, lin) in enumerate(zip(self.tables, self.lin)))
""",
    "one-hot": """\
class OneHot(nn.Module):
    '''vocabulary given as one-hot in training.'''
    def __init__(self, n_tokens, dim):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, dim)
        self.proj = nn.Linear(n_tokens, dim, bias=False)
        self.dim = dim

    def forward(self, ids):
        return self.embed(ids) + self.proj(F.one_hot(ids, 10).float())
""",
    "positions-in-a-buffer": """\
class Positions(nn.Module):
    def __init__(self, length, dim):
        super().__init__()
        self.pos = nn.Embedding(length, dim)
        self.mix = nn.Linear(length, length)
        self.register_buffer("ids", torch.arange(length))

    def forward(self, x):
        '''x: (batch, dim, length)'''
        return self.mix(x) + self.pos(self.ids).t()
""",
    "mixed-along-places": """\
class Mixer(nn.Module):
    def __init__(self, n_patches, dim):
        super().__init__()
        self.where = nn.Embedding(n_patches, dim)
        self.tokens = nn.Linear(n_patches, n_patches)
        self.channels = nn.Linear(dim, dim)

    def forward(self, x, where):
        x = x + self.where(where)
        x = x + self.tokens(x.transpose(1, 2)).transpose(1, 2)
        return self.channels(x)
""",
    "tied": """\
class Tied(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim)
        self.head = nn.Linear(dim, vocab_size)
        self.norm = nn.LayerNorm(vocab_size)

    def forward(self, ids):
        return self.norm(self.head(self.embed(ids)))
""",
    "tabular": """\
class States(nn.Module):
    def __init__(self, n_states, n_actions):
        super().__init__()
        self.q = nn.Embedding(n_states, n_actions)
        self.v = nn.Linear(n_states, 1)

    def forward(self, states):
        one_hot = F.one_hot(states, 12).float()
        return self.q(states) + self.v(one_hot)
""",
    "clamped": """\
class Relative(nn.Module):
    def __init__(self, num_buckets, heads):
        super().__init__()
        self.num_buckets = num_buckets
        self.bias = nn.Embedding(num_buckets, heads)

    def forward(self, distance):
        distance = torch.clamp(distance, 0, self.num_buckets - 1)
        return self.bias(distance.long())
""",
    "nodes": """\
class Graph(nn.Module):
    def __init__(self, num_nodes, hidden):
        super().__init__()
        self.node = nn.Embedding(num_nodes, hidden)
        self.adj = nn.Linear(num_nodes, hidden)

    def forward(self, adj, idx):
        '''adj: (batch, num_nodes), idx: (batch,)'''
        return self.node(idx) + self.adj(adj)
""",
    "quantised": """\
class Quantized(nn.Module):
    def __init__(self, n_bins, dim):
        super().__init__()
        self.n_bins = n_bins
        self.table = nn.Embedding(n_bins, dim)
        self.soft = nn.Linear(n_bins, dim)

    def forward(self, x, is_soft):
        '''x: (batch, n_bins)'''
        if is_soft:
            return self.soft(x)
        return self.table(x.argmax(-1))
""",
    "labels": """\
class Head(nn.Module):
    def __init__(self, dim, n_classes):
        super().__init__()
        self.label = nn.Embedding(n_classes, dim)
        self.out = nn.Linear(dim, n_classes)

    def forward(self, x, y):
        return self.out(x + self.label(y))
""",
    "queries": """\
class Router(nn.Module):
    '''Experts by id; hidden sized tables for learned queries looked up by arange in a helper.'''
    def __init__(self, hidden_size, n_queries):
        super().__init__()
        self.queries = nn.Embedding(n_queries, hidden_size)
        self.n = n_queries
        self.mix = nn.Linear(hidden_size, n_queries)

    def positions(self, device):
        return torch.arange(self.n, device=device)

    def forward(self, x):
        q = self.queries(self.positions(x.device))
        return self.mix(x + q)
""",
    "channels-by-number": """\
class Channels(nn.Module):
    def __init__(self, in_channels, dim):
        super().__init__()
        self.in_channels = in_channels
        self.names = nn.Embedding(in_channels, dim)
        self.patch = nn.Conv1d(in_channels, dim, 3)

    def forward(self, x, channels=None):
        '''x: (batch, in_channels, time)'''
        if channels is None:
            channels = torch.arange(self.in_channels)
        return self.patch(x) + self.names(channels)
""",
    "states-of-no-lookup": """\
class Bits(nn.Module):
    def __init__(self, d_model, d_state):
        super().__init__()
        self.A = nn.Embedding(d_model, d_state)
        self.lin = nn.Linear(d_model, d_model)

    def forward(self, x):
        return self.lin(x) @ self.A.weight
""",
    "columns": """\
class Time(nn.Module):
    def __init__(self, time_dim, width):
        super().__init__()
        self.hour = nn.Embedding(24, width)
        self.day = nn.Embedding(7, width)
        self.lin = nn.Linear(7, width)

    def forward(self, x):
        '''x: (batch, 7)'''
        return self.hour(x[:, 0]) + self.day(x[:, 1]) + self.lin(x.float())
""",
    "one-or-the-other": """\
class Options(nn.Module):
    def __init__(self, input_size, d, discrete):
        super().__init__()
        if discrete:
            self.embed = nn.Embedding(input_size, d)
        else:
            self.embed = nn.Linear(input_size, d)
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        '''x: (batch, time, input_size) or (batch, time)'''
        return self.norm(self.embed(x))
""",
    "asked-by-dtype": """\
class TwoInputs(nn.Module):
    def __init__(self, obs_dim, d):
        super().__init__()
        self.discrete = nn.Embedding(obs_dim, d)
        self.cont = nn.Linear(obs_dim, d)

    def forward(self, obs):
        if obs.dtype == torch.long:
            return self.discrete(obs)
        return self.cont(obs)
""",
    "made-by-kind": """\
def make(kind, n, d):
    return nn.Embedding(n, d) if kind == "ids" else nn.Linear(n, d)


class Made(nn.Module):
    def __init__(self, n_in, d, kind):
        super().__init__()
        self.front = make(kind, n_in, d)
        self.side = nn.Linear(n_in, d)

    def forward(self, x, y):
        return self.front(x) + self.side(y)
""",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_tables_sized_by_features_are_found(workspace: Workspace, text: str) -> None:
    workspace.write({"model.py": HEAD + text})
    lines = (HEAD + text).splitlines()
    (place,) = workspace.places("--select", "ML101", ".")
    assert "nn.Embedding" in lines[place[1] - 1]


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_tables_of_ids_are_left_alone(workspace: Workspace, text: str) -> None:
    workspace.write({"model.py": HEAD + text})
    assert workspace.places("--select", "ML101", ".") == []


def test_a_table_that_another_file_makes_is_found_where_it_is_sized(workspace: Workspace) -> None:
    workspace.write(
        {
            "made.py": "from torch import nn\n\n\ndef table(rows, width):\n    return nn.Embedding(rows, width)\n",
            "model.py": """\
from torch import nn
from made import table


class Prenet(nn.Module):
    def __init__(self, feat_dim, width):
        super().__init__()
        self.embed = table(feat_dim, width)
        self.skip = nn.Linear(feat_dim, width)

    def forward(self, feats):
        return self.embed(feats) + self.skip(feats)
""",
        }
    )
    assert workspace.places("--select", "ML101", ".") == [("model.py", 8, "ML101")]
