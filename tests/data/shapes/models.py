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
        q, k, v = qkv[0], qkv[1], qkv[2]  # q: [b, heads, n, c // heads]
        scores = q @ k.transpose(-2, -1)  # scores: [b, heads, n, n]
        x = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c)  # x: [b, n, c]
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
        x = self.layer(x)  # x: [rows, ?]
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


def main():
    net = Classifier(hidden=16, classes=5)
    scores = net(torch.randn(8, 3, 32, 32))  # scores: [8, 5]
    attended = Attention(24, 4)(torch.randn(2, 7, 24))  # attended: [2, 7, 24]
    tags = Tagger(100, 9)(torch.zeros(3, 11, dtype=torch.long))  # tags: [3, 11, 9]
    steps, rows = Steps(True)(torch.randn(5, 8))
    loss = F.cross_entropy(scores, scores.argmax(1))  # loss: []
    return attended, tags, steps, rows, loss
