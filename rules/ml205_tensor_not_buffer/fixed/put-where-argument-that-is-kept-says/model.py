import torch
from torch import nn


class Smearing(nn.Module):
    def __init__(self, size, device):
        super().__init__()
        self.device = device
        self.out = nn.Linear(size, size)
        self.register_buffer("offsets", torch.linspace(0, 5, size, device=device), persistent=False)  # expect: ML205
        self.register_buffer("width", torch.ones(size).to(self.device), persistent=False)  # expect: ML205

    def forward(self, distances):
        return self.out(torch.exp(-((distances.unsqueeze(-1) - self.offsets) ** 2) * self.width))


class Graph(nn.Module):
    def __init__(self, args, options):
        super().__init__()
        self.args = args
        self.register_buffer("eye", torch.eye(args.nodes, device=self.args.device), persistent=False)  # expect: ML205
        self.register_buffer("scale", torch.ones(args.nodes).to(options["device"]), persistent=False)  # expect: ML205
        self.weight = nn.Parameter(torch.ones(args.nodes, args.nodes))

    def forward(self, edges):
        return (edges + self.eye) @ self.weight * self.scale
