import torch
from torch import nn


class Levy(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("bounds", torch.tensor([[-10.0], [10.0]]))

    def forward(self, x):
        return (x - self.bounds[0]) / (self.bounds[1] - self.bounds[0])


class Robust(nn.Module):
    levy = Levy()

    def forward(self, x):
        self.levy.bounds = self.levy.bounds.to(x)
        return self.levy(x).sum()
