import numpy as np
import torch
from torch import nn


class Collate:
    def __init__(self, width):
        self.table = torch.zeros(width)

    def forward(self, x):
        return x + self.table


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rates = np.linspace(0, 1, width)
        self.tables = [torch.zeros(width)]

    def forward(self, x):
        return x * self.rates[0] + self.tables[0].to(x)
