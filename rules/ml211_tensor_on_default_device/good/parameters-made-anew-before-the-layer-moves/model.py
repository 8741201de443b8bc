import torch
from torch import nn


class Tokens(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.width = width
        self.positions = nn.Parameter(torch.zeros(1, length, width))

    def prepare(self, count):
        if self.positions.size(1) % 2:
            self.positions = nn.Parameter(self.positions[:, 1:])
        first = self.positions[:, 0, :][:, None]
        more = nn.init.trunc_normal_(torch.zeros(1, count, self.width))
        rest = self.positions[:, 1:, :].transpose(1, 2).flatten(1)
        self.positions = nn.Parameter(torch.cat([first, rest, more], dim=1))
        self.start = nn.Parameter(torch.zeros(1, count, self.width))
        self.start = nn.init.trunc_normal_(self.start)

    def forward(self, x):
        return x + self.positions
