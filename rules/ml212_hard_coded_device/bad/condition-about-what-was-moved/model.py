import torch
from torch import nn


class Refined(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        rest = torch.zeros(len(x)).cuda()  # expect: ML212
        if rest.sum() == 0:
            x = self.proj(x)
        return x


class Guarded(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, like):
        x = self.proj(x)
        if like.cpu().sum() > 0:
            x = x + torch.ones(x.shape[-1]).cuda()  # expect: ML212
        return x
