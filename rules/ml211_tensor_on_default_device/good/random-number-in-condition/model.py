import torch
from torch import nn


class Skipping(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x, p, scale):
        if torch.rand(1) < self.rate or torch.rand(1) < p:
            return x
        half = torch.tensor(0.5)
        x = torch.clamp(x, 0, torch.tensor(4.0))
        return half * x + torch.zeros(()) + x * torch.rand(1).item() + torch.arange(4).sum() * scale * x
