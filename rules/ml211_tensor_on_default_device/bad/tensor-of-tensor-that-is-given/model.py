import torch
from torch import nn


def padding(x, lengths):
    inside = torch.arange(x.size(1))[None] < torch.as_tensor(lengths)[:, None]  # expect: ML211
    return ~inside if lengths.dim() else None


class Reader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x, lengths):
        x = self.layer(x)
        return x.masked_fill(padding(x, lengths).unsqueeze(-1), 0.0)


def train(width):
    return Reader(width).cuda()
