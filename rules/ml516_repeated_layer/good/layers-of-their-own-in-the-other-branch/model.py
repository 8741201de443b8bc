import copy

from torch import nn


def clones(layer, count):
    return nn.ModuleList([copy.deepcopy(layer) for _ in range(count)])


class Detector(nn.Module):
    def __init__(self, count, refine):
        super().__init__()
        self.head = nn.Linear(8, 4)
        if refine:
            self.head = clones(self.head, count)
        else:
            self.head = nn.ModuleList([self.head for _ in range(count)])

    def forward(self, states):
        return [head(state) for head, state in zip(self.head, states)]
