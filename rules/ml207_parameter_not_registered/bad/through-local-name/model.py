import torch
from torch.nn import Module, Parameter


class Gate(Module):
    def __init__(self, width, half=False):
        super().__init__()
        weight = Parameter(torch.empty(width, width))
        torch.nn.init.xavier_uniform_(weight.data)
        if half:
            weight = weight.half()
        self.weight = weight  # expect: ML207

    def forward(self, x):
        return x @ self.weight
