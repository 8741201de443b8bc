import torch
from torch import nn


class Select(nn.Module):
    def __init__(self, places, table):
        super().__init__()
        self.places = places
        self.register_buffer("table", table)

    def forward(self, x):
        return x[:, self.places] * self.table


net = Select(torch.tensor([2, 0]), torch.ones(2))
