import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)  # expect: ML522


def run():
    head = Head()
    grid = torch.linspace(0, 1, 4, dtype=torch.float64)
    return head(grid)


def correlate():
    left = torch.randn(2, 3, 4)
    right = torch.zeros(2, 4, 5).double()
    return torch.bmm(left, right)  # expect: ML522
