import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, queries):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.queries = queries

    def forward(self, x):
        scale = torch.ones(self.queries).cuda()  # expect: ML212
        return self.shift(self.proj(x) * scale[0])

    def shift(self, x):
        return x + torch.zeros(x.shape[-1], device="cuda:0")  # expect: ML212
