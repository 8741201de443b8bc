import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = torch.sqrt(torch.tensor(width).float())
        self.total = torch.arange(width).sum()
        self.rates = torch.linspace(0, 1, 12).tolist()
        self.drop = [rate.item() for rate in torch.linspace(0, 1, 12)]

    def forward(self, x):
        return x / self.scale * self.total * self.rates[0] + self.drop[1]
