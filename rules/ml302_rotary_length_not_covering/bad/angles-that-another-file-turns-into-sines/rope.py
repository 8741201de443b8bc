import torch
from torch import nn


class Angles(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("rates", 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim)))

    def forward(self, length, offset=0):
        steps = torch.arange(length, device=self.rates.device) + offset
        angles = torch.einsum("i,j->ij", steps.type_as(self.rates), self.rates)
        return torch.cat((angles, angles), dim=-1)[:, None, None, :]


def turned(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def rotate(x, angles):
    return x * angles.cos() + turned(x) * angles.sin()
