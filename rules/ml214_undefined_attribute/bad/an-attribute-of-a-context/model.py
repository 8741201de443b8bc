import torch
from torch import nn
from torch.autograd import Function


class Rounded(Function):
    @staticmethod
    def forward(ctx, x, levels):
        ctx.levels = levels
        return torch.round(x * levels) / levels

    @staticmethod
    def backward(ctx, grad):
        return grad / ctx.levels, None


class Quantised(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return Rounded.apply(self.proj(x), self.levels)  # expect: ML214


def main(x):
    return Quantised(8)(x)
