import torch
from torch import nn


class Cropping(nn.Module):
    def forward(self, x):
        start = torch.randint(0, 4, (1,)).item()
        picks = torch.randperm(4).tolist()
        first = int(torch.randint(0, 4, (1,)))
        return x[:, start:] * picks[0] + x.clamp(max=4.0)[:, first : first + 1]
