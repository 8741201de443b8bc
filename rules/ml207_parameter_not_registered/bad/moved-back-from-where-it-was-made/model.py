import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1, device="cuda")).cpu()  # expect: ML207
        self.shift = nn.Parameter(torch.zeros(1).cuda()).to("cpu")  # expect: ML207

    def forward(self, x):
        return x * self.scale + self.shift


class Told(nn.Module):
    def __init__(self, place):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1)).to(place)  # expect: ML207

    def forward(self, x):
        return x * self.scale


class Chosen(nn.Module):
    def __init__(self, place="cpu"):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1)).to(place)  # expect: ML207

    def forward(self, x):
        return x * self.scale


class Listed(nn.Module):
    def __init__(self, place):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1)).to(place)  # expect: ML207

    def forward(self, x):
        return x * self.scale


KINDS = {"listed": Listed}


def build(kind, place):
    return Told("cpu"), Told(place), Listed("cpu"), KINDS[kind](place)
