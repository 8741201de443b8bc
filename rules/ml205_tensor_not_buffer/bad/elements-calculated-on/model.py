import torch
from torch import nn


class Leaky(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        self.layers = layers
        self.states = [torch.zeros(width)] * layers  # expect: ML205
        self.scales = [torch.ones(width), torch.ones(width)]  # expect: ML205

    def forward(self, x):
        for number in range(self.layers):
            self.states[number] = torch.tanh(self.states[number] * 0.5 + x)
            self.scales[number] = self.scales[number] * 2
        return x * self.scales[0]
