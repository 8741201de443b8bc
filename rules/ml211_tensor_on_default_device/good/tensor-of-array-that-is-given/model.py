import torch
from torch import nn


def padding(x, lengths):
    """True where a row of `x` is longer than its length; `lengths` is like an array."""
    longest = max(lengths)
    inside = torch.arange(longest).expand(x.size(0), longest) < torch.tensor(lengths).unsqueeze(-1)
    return ~inside.to(x.device)


def ends(x, lengths):
    rows = torch.LongTensor(lengths)
    last = torch.arange(max(lengths))[None] == rows[:, None] - 1
    return last.to(x.device)


class Reader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x, lengths=None):
        x = self.layer(x)
        if lengths is not None:
            x = x.masked_fill(padding(x, lengths).unsqueeze(-1), 0.0) * ends(x, lengths).unsqueeze(-1)
        return x


def train(width):
    return Reader(width).cuda()
