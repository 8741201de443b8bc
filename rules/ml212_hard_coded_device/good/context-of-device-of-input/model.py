import torch
from torch import nn


def packed(weight):
    with torch.cuda.device(weight.device):
        out = torch.empty(weight.shape, dtype=torch.int8, device="cuda")
        out.copy_(weight)
        return out


class Packed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        with torch.cuda.device_of(x):
            bias = torch.zeros(x.shape[-1]).cuda()
        return nn.functional.linear(x, packed(self.layer.weight).to(x.dtype)) + bias
