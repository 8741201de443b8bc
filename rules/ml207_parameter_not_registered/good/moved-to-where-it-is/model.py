import torch
from torch import nn


class Graph(nn.Module):
    def __init__(self, nodes, device):
        super().__init__()
        self.left = nn.Parameter(torch.randn(nodes, 10).to(device), requires_grad=True).to(device)
        self.right = nn.Parameter(torch.randn(10, nodes, device=device)).to(device)

    def forward(self, x):
        return torch.mm(self.left, self.right) @ x
