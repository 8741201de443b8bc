import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, groups, width, inner):
        super().__init__()
        self.one = nn.Linear(width, groups)
        self.two = nn.Linear(width, 2 * groups)
        self.three = nn.Linear(width, inner)

    def forward(self, x):
        return self.one(x) * self.two(x) + self.three(x)

    def together(self, x, y):
        return torch.cat([self.one(x), self.three(y)]) if x is y else torch.stack([x, y])


def added(n, m):
    return torch.zeros(n, 4) + torch.zeros(m, 4)


def paired(rows, columns, steps):
    left, right = torch.zeros(rows, columns), torch.zeros(steps, 8)
    return left @ right, left.view(steps, -1), torch.zeros(rows, 6) + torch.zeros(2 * rows, 6)
