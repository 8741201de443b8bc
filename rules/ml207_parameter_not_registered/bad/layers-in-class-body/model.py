import torch
from torch import nn


class Model(nn.Module):
    heads = {"small": nn.Linear(8, 2), "large": nn.Linear(8, 9)}  # expect: ML207
    mix = nn.Linear(8, 8)  # expect: ML207
    scale = nn.Parameter(torch.ones(8))  # expect: ML207
    act = nn.ReLU()

    def forward(self, x, name):
        return self.heads[name](self.act(self.mix(x)) * self.scale)


class Stack(nn.Module):
    layers = [nn.Linear(8, 8) for _ in range(3)]  # expect: ML207

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        for layer in self.layers:
            x = self.norm(layer(x))
        return x
