import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.fc(x))


def run():
    block, x = Block(), torch.rand(2, 4)
    while x.dim() < 3:
        block = block(x)  # expect: ML517
