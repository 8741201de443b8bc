import torch
from torch import nn


class Faces(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x) * torch.ones(x.shape[-1]).cuda()  # expect: ML212
