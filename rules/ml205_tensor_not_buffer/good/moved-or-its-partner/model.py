import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = torch.zeros(width)
        self.rates = torch.ones(width)

    def forward(self, x):
        table = self.table
        if table.is_cuda != x.is_cuda:
            table = table.to(x.device)
        rates = self.rates
        ids = x.argmax(-1)
        if ids.device != rates.device:
            ids = ids.to(rates.device)
        return x + table, rates[ids]
