import torch
from torch import nn


class Losses(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x, target=None):
        found = [self.lin(x).abs().mean()]
        if target is None:
            found.append(torch.tensor(0.0))  # expect: ML211
        else:
            found.append((x - target).abs().mean())
        return torch.stack(found).sum()
