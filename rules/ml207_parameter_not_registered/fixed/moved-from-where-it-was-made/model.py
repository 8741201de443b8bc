import torch
from torch import nn


def table(size, place=None):
    return nn.Parameter(torch.randn(size, 10, device=place))


class Graph(nn.Module):
    def __init__(self, nodes, device, other="cpu"):
        super().__init__()
        self.left = nn.Parameter(torch.randn(nodes, 10).to(other).to(device))  # expect: ML207
        self.right = nn.Parameter(torch.randn(nodes, 10).to(device).cpu().to(device))  # expect: ML207
        self.scale = nn.Parameter(torch.randn(nodes).to(torch.float64).to(device))  # expect: ML207
        self.shift = nn.Parameter(torch.zeros(nodes, device="cuda:1").cuda())  # expect: ML207
        self.gain = nn.Parameter(torch.ones(nodes).to(device).to(device, torch.float16))  # expect: ML207
        self.table = table(nodes).to(device)  # expect: ML207

    def forward(self, x):
        return (self.left + self.right + self.table).T @ (x * self.scale + self.shift) * self.gain
