import torch
from torch import nn


class Attack:
    def __init__(self, shape, device):
        self.delta = nn.Parameter(torch.zeros(shape)).to(device)
        self.deltas = [nn.Parameter(torch.zeros(shape))]
        self.layer = nn.Linear(3, 3)
        super().__init__()

    def step(self, x):
        return self.layer(x + self.delta + self.deltas[0])
