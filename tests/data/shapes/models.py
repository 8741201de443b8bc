"""Models whose shapes are known: `# x: [b, 3]` claims the shape of `x`, or of what is returned, on a line."""

import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self, hidden=64, classes=10):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.second = nn.Conv2d(32, hidden, 3)
        self.rest = nn.Sequential(nn.Conv2d(hidden, hidden, 1), nn.ReLU(), nn.BatchNorm2d(hidden))
        self.head = nn.Linear(hidden, classes)

    def forward(self, image):
        b, c, h, w = image.shape
        x = self.pool(F.relu(self.first(image)))  # x: [b, 32, h // 2, w // 2]
        x = self.rest(self.second(x))  # x: [b, hidden, h // 2 - 2, w // 2 - 2]
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)  # x: [b, hidden]
        return self.head(x)  # return: [b, classes]


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]  # q: [b, heads, n, dim // heads]
        scores = q @ k.transpose(-2, -1)  # scores: [b, heads, n, n]
        x = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c)  # x: [b, n, dim]
        return self.out(x)  # return: [b, n, dim]


class Tagger(nn.Module):
    def __init__(self, words, tags, width=48):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, 20, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(40, tags)

    def forward(self, ids):
        batch, length = ids.size()
        x = self.table(ids)  # x: [batch, length, width]
        x, (state, _) = self.rnn(x)  # x: [batch, length, 40]; state: [4, batch, 20]
        last = x[:, -1]  # last: [batch, 40]
        both = torch.cat([last, state[-1]], dim=-1)  # both: [batch, 60]
        flags = both > 0  # flags: [batch, 60]
        return self.head(x)  # return: [batch, length, tags]


class Steps(nn.Module):
    """Which path is taken is open, and what a loop makes depends on how often it turns."""

    def __init__(self, wide):
        super().__init__()
        self.layer = nn.Linear(8, 16 if wide else 32)
        self.turns = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])

    def forward(self, x, mask=None):
        rows, _ = x.shape
        for turn in self.turns:
            x = turn(x)
        x = self.layer(x)  # x: [rows, layer_out_features]
        if mask is not None:
            x = x.masked_fill(mask, 0)
        y = x.sum(dim=1, keepdim=True)
        return y.squeeze(1), rows


def pieces():
    x = torch.zeros(4, 6, 10)
    first, second = x.split([4, 2], dim=1)  # first: [4, 4, 10]; second: [4, 2, 10]
    halves = torch.chunk(first, 2, -1)
    wide = torch.stack([halves[0], halves[1]])  # wide: [2, 4, 4, 5]
    ids = x.argmax(-1)  # ids: [4, 6]
    values, places = x.topk(3)  # values: [4, 6, 3]
    grown = F.pad(x, (1, 2))  # grown: [4, 6, 13]
    cut = x[:, None, 1:5, ::3]  # cut: [4, 1, 4, 4]
    picked = x[ids[0]]  # picked: [6, 6, 10]
    column = x[..., 0]  # column: [4, 6]
    table = torch.tensor([[1, 2, 3], [4, 5, 6]])  # table: [2, 3]
    total = torch.einsum("bij,bkj->bik", x, second)  # total: [4, 6, 2]
    flat = x.view(*x.shape[:-1], 2, 5).flatten(1, 2)  # flat: [4, 12, 5]
    return wide, values, places, grown, cut, picked, column, table, total, flat


class Drop(nn.Module):
    """How many dimensions the argument has is asked; the calls of the file tell."""

    def __init__(self, rate: float = 0.1):
        super().__init__()
        self.rate = rate

    def forward(self, rows):
        if not self.training:
            return rows
        kept = 1 - self.rate
        mask = rows.new_empty((rows.shape[0],) + (1,) * (rows.ndim - 1)).bernoulli_(kept)  # mask: [rows_0, 1, 1]
        return rows * mask / kept


class Mixer(nn.Module):
    """Nothing is unpacked: the layers tell what they take."""

    def __init__(self, width, heads, hidden=None, gain=0.5):
        super().__init__()
        self.scale = (width // heads) ** -0.5
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.rise = nn.Linear(width, hidden or 4 * width)
        self.fall = nn.Linear(hidden or 4 * width, width)
        self.gain = nn.Parameter(gain * torch.ones(width)) if gain else None
        self.drop = Drop()
        self.out = nn.Conv1d(width, 2, 1)

    def forward(self, x, mask=None):  # x: [x_0, x_1, width]
        q = self.query(self.norm(x)).view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)
        scores = product(q, q, mask) * self.scale  # scores: [x_0, heads, x_1, x_1]
        mixed = (scores.softmax(-1) @ q).transpose(1, 2).flatten(2)  # mixed: [x_0, x_1, heads * (width // heads)]
        wide = self.rise(x)  # wide: [x_0, x_1, rise_out_features]
        y = x + self.drop(self.fall(wide))  # y: [x_0, x_1, width]
        if self.gain is not None:
            y = self.gain * y  # y: [x_0, x_1, width]
        return self.out((y + mixed).transpose(1, 2))  # return: [x_0, 2, x_1]


def product(query, key, mask=None):
    """A product is of the last two dimensions."""
    found = query @ key.transpose(2, 3)
    return found if mask is None else found + mask


def windows(x: torch.Tensor, size: tuple[int, int]):
    assert x.ndim == 4
    n, h, w, c = x.shape
    x = x.view(n, h // size[0], size[0], w // size[1], size[1], c)
    return x.transpose(2, 3).reshape(-1, size[0], size[1], c)


def pooled(x, weights):
    """Pool a sequence.

    Args:
        x (torch.Tensor): states of shape `(batch, length, width)`.
        weights: (batch, length)
    """
    weighted = x * weights.unsqueeze(-1)  # weighted: [x_0, x_1, x_2]
    return weighted.sum(1)  # return: [x_0, x_2]


def either(x, flat):
    """Which rank the argument has is decided by another one: nothing is presumed."""
    if flat:
        n, c = x.shape
    else:
        n, c, h, w = x.shape
    return x.relu()  # return: [*, ?, ?]


def main():
    net = Classifier(hidden=16, classes=5)
    scores = net(torch.randn(8, 3, 32, 32))  # scores: [8, 5]
    attended = Attention(24, 4)(torch.randn(2, 7, 24))  # attended: [2, 7, 24]
    tags = Tagger(100, 9)(torch.zeros(3, 11, dtype=torch.long))  # tags: [3, 11, 9]
    steps, rows = Steps(True)(torch.randn(5, 8))
    loss = F.cross_entropy(scores, scores.argmax(1))  # loss: []
    mixed = Mixer(12, 3)(torch.randn(2, 7, 12))  # mixed: [2, 2, 7]
    parts = windows(torch.randn(2, 8, 6, 5), (4, 3))  # parts: [8, 4, 3, 5]
    rows = pooled(torch.randn(2, 7, 4), torch.randn(2, 7))  # rows: [2, 4]
    both = either(torch.randn(2, 3), True), either(torch.randn(2, 3, 4, 4), False)
    return attended, tags, steps, rows, loss, mixed, parts, both
