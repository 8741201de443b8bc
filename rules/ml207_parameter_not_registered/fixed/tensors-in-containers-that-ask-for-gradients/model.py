import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.mixing = nn.ParameterList([torch.randn(width, width, requires_grad=True) for _ in range(depth)])  # expect: ML207
        self.gates = nn.ParameterDict({"inner": torch.zeros(width, requires_grad=True)})  # expect: ML207
        self.weight = nn.Parameter((0.02 * torch.randn(width, width)).requires_grad_())  # expect: ML207
        self.bias = nn.Parameter(torch.zeros(width))  # expect: ML207
        self.bias.requires_grad_(True)

    def forward(self, x):
        for weight in self.mixing:
            x = x @ weight
        return x @ self.weight * self.gates["inner"] + self.bias
