import torch
from torch import nn


def look_up(table, numbers):
    return table(numbers)


class Encoder(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.front = nn.Conv1d(1, width, 3)
        self.pool = nn.BatchNorm1d(width)
        self.embed = nn.ModuleDict({"codes": nn.Embedding(rows, width)})

    def prepare(self, wave):
        self.features = {"codes": self.pool(self.front(wave))}

    def forward(self, wave):
        self.prepare(wave)
        first = self.embed["codes"](self.features["codes"])  # expect: ML102
        return first + look_up(self.embed["codes"], torch.true_divide(wave, 2))  # expect: ML102
