import torch
from torch import nn


def spread(x, index):
    return x.new_zeros(index.size(0), x.size(1)) + x


class Attention(nn.Module):
    def __init__(self, width, mechanism="across", mode="add"):
        super().__init__()
        if mechanism != "within" and mechanism != "across":
            raise ValueError("the mechanism must be within or across")
        if mode not in ["add", "multiply"]:
            raise ValueError("the mode must be add or multiply")
        self.mechanism = mechanism
        self.mode = mode
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x, y, index):
        alpha = torch.tensor([0])
        if self.mode == "add":
            alpha = torch.add(x, y)
        elif self.mode == "multiply":
            alpha = x * y
        alpha = spread(alpha, index)
        if self.mechanism == "within":
            out = torch.zeros_like(alpha)
        elif self.mechanism == "across":
            out = alpha
        else:
            out = torch.zeros(x.size(0), x.size(1)) + alpha
        return out * self.weight


def main():
    return Attention(8).to("cuda")
