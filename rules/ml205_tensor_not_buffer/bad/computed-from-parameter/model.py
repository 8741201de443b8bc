import torch
from torch import nn


class Cosine(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, width))
        self.length = self.weight.norm(dim=1)  # expect: ML205

    def forward(self, x):
        return x @ self.weight.t() / self.length
