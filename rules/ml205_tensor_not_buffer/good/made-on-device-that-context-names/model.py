import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, device):
        super().__init__()
        with torch.device(device):
            self.table = torch.zeros(width)

    def forward(self, x):
        return x + self.table
