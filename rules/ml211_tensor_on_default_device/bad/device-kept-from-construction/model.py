import torch
from torch import nn


class Biased(nn.Module):
    def __init__(self, width, buckets=32, device=None):
        super().__init__()
        self.lin = nn.Linear(width, width, device=device)
        self.table = nn.Embedding(buckets, width, device=device)
        self.device = device

    def _places(self, length):
        return torch.arange(length, device=self.device)  # expect: ML211

    def forward(self, x):
        return self.lin(x) + self.table(self._places(x.size(1)))


class Started(nn.Module):
    def __init__(self, width, device="cpu"):
        super().__init__()
        self.width = width
        self.where = torch.device(device)
        self.rnn = nn.GRU(width, width)

    def forward(self, x):
        start = torch.zeros(1, x.size(1), self.width, device=self.where)  # expect: ML211
        return self.rnn(x, start)


class Masked(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.place = self.lin.weight.device

    def forward(self, x):
        mask = torch.ones(x.size(1), 1).tril().to(self.place)  # expect: ML211
        return self.lin(x) * mask
