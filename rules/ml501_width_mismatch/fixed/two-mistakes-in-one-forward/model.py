import torch
from torch import nn


class SideBySide(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(8, 48)
        self.left = nn.Linear(48, 3)
        self.right = nn.Linear(48, 3)

    def forward(self, x):
        x = self.stem(x)
        left = self.left(x)  # expect: ML501
        return left, self.right(x)  # expect: ML501


class InRow(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(8, 48)
        self.middle = nn.Linear(48, 16)
        self.head = nn.Linear(16, 30)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = self.middle(x)  # expect: ML501
        return self.head(x)  # expect: ML501


class UnderCondition(nn.Module):
    def __init__(self, is_normed):
        super().__init__()
        self.stem = nn.Linear(8, 48)
        self.norm = nn.LayerNorm(48)
        self.head = nn.Linear(48, 3)
        self.is_normed = is_normed

    def forward(self, x):
        x = self.stem(x)
        if self.is_normed:
            x = self.norm(x)  # expect: ML501
        return self.head(x)  # expect: ML501
