import torch
from torch import nn
from torch.nn import functional as F


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.input = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        return torch.tanh(self.input(F.relu(x))) * torch.sigmoid(self.gate(F.relu(x)))
