import torch
from torch import nn


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(3 if not n else 8 * n, 8 * (n + 1), 3, padding=1) for n in range(4))
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        kept = []
        for layer in self.layers:
            x = layer(x)
            kept.append(x)
            x = self.pool(x)
        deepest = kept.pop()
        return deepest + nn.functional.interpolate(x, scale_factor=2), kept[0], torch.cat([k.mean([2, 3]) for k in kept], 1)


def grown(steps):
    states = torch.zeros(1, 16)
    for _ in range(steps):
        states = torch.cat([states, torch.zeros(1, 16)])
    return states + torch.ones(steps + 1, 16)  # reveal: [steps + 1, 16]


def halved(x):
    weights = torch.ones(64, 64)
    for _ in range(3):
        weights = weights[::2]
    return weights + torch.zeros(8, 64)  # reveal: [8, 64] float32


def alternating(sizes):
    blocks = [torch.zeros(4, 2)]
    blocks += [torch.zeros(4, size) for size in sizes]
    first = blocks[0]
    blocks[0] = torch.zeros(6, 6)
    return torch.cat(blocks[1:], dim=1), first, blocks[0] @ torch.zeros(6, 2)
