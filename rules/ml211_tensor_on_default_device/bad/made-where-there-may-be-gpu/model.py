import torch
from torch import nn


class Shifted(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x, is_shifted=True):
        x = self.lin(x)
        if is_shifted or not torch.cuda.is_available():
            x = x + torch.ones(x.size(1))  # expect: ML211
        if torch.cuda.is_available():
            x = x * torch.full((x.size(1),), 0.5)  # expect: ML211
        return x
