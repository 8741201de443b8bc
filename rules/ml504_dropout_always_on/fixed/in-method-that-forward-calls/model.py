import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = self.step(layer, x, index)
        return x

    def step(self, layer, x, index):
        if index < 2:
            x = torch.tanh(nn.functional.dropout(x, training=self.training))  # expect: ML504
        return layer(x)
