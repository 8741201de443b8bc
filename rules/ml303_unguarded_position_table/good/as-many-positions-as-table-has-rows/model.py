import torch
from torch import nn


class Queries(nn.Module):
    def __init__(self, width, queries=100):
        super().__init__()
        self.queries = nn.Embedding(100, width)
        self.register_buffer("mask", torch.ones(512, 512))
        self.register_buffer("scale", torch.ones(1, 64))

    def forward(self, x):
        x = x + self.queries(torch.arange(100, device=x.device)) * self.scale[:, : x.shape[-1]]
        return x, self.mask[: self.queries.weight.shape[0]]
