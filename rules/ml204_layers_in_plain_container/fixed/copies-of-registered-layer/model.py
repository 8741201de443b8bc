import copy

from torch import nn


class Ensemble(nn.Module):
    def __init__(self, width, members):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.others = nn.ModuleList(tuple(copy.deepcopy(self.first) for _ in range(members)))  # expect: ML204

    def forward(self, x):
        return sum(member(x) for member in self.others) + self.first(x)
