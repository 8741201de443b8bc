import torch
from torch import nn


class Pooling(nn.Module):
    def __init__(self):
        super().__init__()
        self.keys = nn.Linear(64, 32)
        self.summary = nn.Parameter(torch.randn(4, 64))

    def forward(self, x):
        keys = self.keys(x)  # reveal: [*, 32] float32
        return self.summary @ keys.transpose(-2, -1)  # expect: ML520


def similarity():
    left = torch.randn(8, 128)
    right = torch.randn(8, 128)
    return torch.matmul(left, right)  # expect: ML520


def batches():
    weights = torch.rand(4, 6, 6)
    values = torch.rand(4, 5, 16)
    return torch.bmm(weights, values)  # expect: ML520


def covariance():
    samples = torch.randn(2, 30, 5)
    return torch.mm(samples, samples)  # expect: ML520
