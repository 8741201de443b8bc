import torch
from torch import nn


class Swish(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Swish()  # expect: ML506

    def forward(self, x):
        return self.act(x)


def eigenvalues():
    return torch.symeig(torch.eye(3))  # expect: ML506
