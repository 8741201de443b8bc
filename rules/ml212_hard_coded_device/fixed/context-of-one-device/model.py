import torch
from torch import nn


class Packed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        with torch.cuda.device(0):
            first = torch.empty(x.shape, device=next(self.parameters()).device)  # expect: ML212
        return self.layer(x) + first


class Halved(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        with torch.cuda.device(x.device):
            half = torch.empty(x.shape, device=next(self.parameters()).device)  # expect: ML212
        return self.layer(x) + half
