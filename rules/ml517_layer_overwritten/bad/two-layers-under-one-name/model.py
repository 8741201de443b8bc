import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 4)
        self.second = nn.LayerNorm(8)  # expect: ML517

    def forward(self, x: torch.Tensor):
        return self.second(self.first(x))
