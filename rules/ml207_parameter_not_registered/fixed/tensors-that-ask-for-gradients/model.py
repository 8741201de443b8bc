import torch
from torch import nn
from torch.autograd import Variable


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.ones(width, requires_grad=True))  # expect: ML207
        self.shift = nn.Parameter(torch.zeros(width))  # expect: ML207
        self.shift.requires_grad = True

    def forward(self, x):
        return self.lin(x) * self.scale + self.shift


class Mixed(nn.Module):
    def __init__(self, operations):
        super().__init__()
        self.alphas = nn.Parameter(Variable(1e-3 * torch.randn(operations), requires_grad=True))  # expect: ML207

    def architecture_parameters(self):
        return [self.alphas]

    def forward(self, outputs):
        return sum(w * x for w, x in zip(torch.softmax(self.alphas, 0), outputs))
