import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length, width, device):
        super().__init__()
        self.table = torch.zeros(length, width, device=device)
        self.steps = torch.arange(length).to(device)

    def forward(self, x):
        return x + self.table[self.steps] * self.steps
