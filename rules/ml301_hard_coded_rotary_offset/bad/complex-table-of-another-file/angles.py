import torch
from torch import nn


class Angles(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("steps", 10000.0 ** (-torch.arange(0, dim, 2) / dim))

    def forward(self, length):
        angles = torch.outer(torch.arange(length, device=self.steps.device), self.steps)
        return torch.polar(torch.ones_like(angles), angles)
