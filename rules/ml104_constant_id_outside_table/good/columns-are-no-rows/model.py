import torch
from torch import nn


class Costs(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("costs", torch.zeros(4, 32))
        self.words = nn.Embedding(4, 32)

    def forward(self, kinds):
        ends = torch.full((3,), 31)
        return self.costs[kinds, ends] + self.costs[:, ends] + self.words.weight[kinds, ends] + self.costs[..., ends]
