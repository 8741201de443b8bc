import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, table: torch.Tensor):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.table = nn.Embedding.from_pretrained(table)
        self.skip = nn.Identity(3)

    def forward(self, x):
        noise = torch.distributions.Normal(x, torch.ones(3)).sample()
        return self.skip(x) * self.scale + noise
