import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, dim, max_seq_len, scale=1.0):
        super().__init__()
        self.table = nn.Embedding(max_seq_len, dim)
        self.scale = scale

    def forward(self, x):
        return self.scale * self.table(torch.arange(x.shape[1], device=x.device))


class Grid(nn.Module):
    def __init__(self, height, width):
        super().__init__()
        self.height, self.width = height, width

    def forward(self, x):
        return x.view(-1, self.height, self.width)


class Model(nn.Module):
    def __init__(self, dim, max_seq_len, height, width):
        super().__init__()
        self.positions = Positions(dim, max_seq_len)
        self.others = Positions(max_seq_len=max_seq_len, dim=dim)
        self.more = Positions(width, 2 * max_seq_len)
        self.turned = Grid(width, height)

    def forward(self, x):
        return self.turned(self.positions(x) + self.others(x)), self.more(x)
