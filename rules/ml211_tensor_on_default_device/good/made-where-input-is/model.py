import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.table = nn.Embedding(length, width)

    def forward(self, x):
        x = x + self.table(torch.arange(x.size(1), device=x.device))
        x = x + torch.zeros_like(x) + x.new_ones(x.size(1), 1)
        x = x + torch.rand(x.shape).to(x) + torch.rand(x.shape).type_as(x)
        with torch.device(x.device):
            return x + torch.zeros(x.size(1), 1)
