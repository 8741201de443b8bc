import torch
from torch import nn


class Squeeze(nn.Module):  # expect: ML513
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def apply_to(self, x):
        return self.fc(x).squeeze(-1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), Squeeze())

    def forward(self, x: torch.Tensor):
        return self.layers(x)
