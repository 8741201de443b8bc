import torch
from torch import nn


class Placed(nn.Module):
    def __init__(self, width, device="cpu"):
        super().__init__()
        self.device = device
        self.lin = nn.Linear(width, width)
        self.to(device)

    def forward(self, x):
        return self.lin(x) + torch.zeros(x.size(1), device=self.device)


class Bringing(nn.Module):
    def __init__(self, width, device=None):
        super().__init__()
        self.device = device
        self.lin = nn.Linear(width, width, device=device)

    def forward(self, x):
        x = x.to(self.device)
        return self.lin(x) + torch.zeros(x.size(1), device=self.device)


class Following(nn.Module):
    def __init__(self, width, device=None):
        super().__init__()
        self.device = device
        self.lin = nn.Linear(width, width)

    def to(self, device):
        self.device = device
        return super().to(device)

    def forward(self, x):
        return self.lin(x) + torch.zeros(x.size(1), device=self.device)


class Chosen(nn.Module):
    def __init__(self, width, device=None):
        super().__init__()
        self.device = device
        self.lin = nn.Linear(width, width, device=device)

    def forward(self, x):
        return self.lin(x) + torch.zeros(x.size(1), device=self.device)


class Set(nn.Module):
    def __init__(self, width, device=None):
        super().__init__()
        self.home = device
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x) + torch.zeros(x.size(1), device=self.home)


class Asked(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    @property
    def device(self):
        return self.lin.weight.device

    def forward(self, x):
        return self.lin(x) + torch.zeros(x.size(1), device=self.device)


def build(device):
    chosen, other = Chosen(3, device=device), Set(3)
    other.home = device
    return chosen, other.to(device)
