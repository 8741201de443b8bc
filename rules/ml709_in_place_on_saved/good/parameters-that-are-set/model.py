import torch
from torch import nn


class Linear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.steps = nn.Parameter(torch.zeros(1), requires_grad=False)
        self.reset()

    def reset(self):
        nn.init.kaiming_uniform_(self.weight)
        self.bias.data.uniform_(-0.1, 0.1)
        self.bias.detach().mul_(0.5)
        self.steps += 1

    def forward(self, x):
        return x @ self.weight.t() + self.bias
