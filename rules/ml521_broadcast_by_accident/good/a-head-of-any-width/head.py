import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width: int, classes: int = 1):
        super().__init__()
        self.classes = classes
        self.fc = nn.Linear(width, classes)
        self.one = nn.Linear(width, 1)

    def forward(self, x):
        if self.classes == 1:
            return torch.sigmoid(self.fc(x))
        return torch.softmax(self.fc(x), dim=-1)

    def gate(self, x):
        scores = torch.cat([self.one(x), torch.zeros_like(self.one(x))], dim=-1)
        return scores.softmax(dim=-1)
