import torch
from torch import nn


class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = Parts()

    def forward(self, x: torch.Tensor):
        return self.parts.second(self.parts.first(x))
