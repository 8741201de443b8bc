import torch
from torch import nn


class Lookup(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.codes = torch.arange(rows)

    def forward(self, ids):
        return self.codes[ids.to(self.codes.device)]
