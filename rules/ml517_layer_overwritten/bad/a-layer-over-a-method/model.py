import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.add_module("project", nn.Linear(width, 2))  # expect: ML517

    def project(self, x):
        return x

    def forward(self, x: torch.Tensor):
        return self.project(x)
