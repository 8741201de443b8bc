import torch
from torch import nn


def mask_of(longest):
    return torch.arange(longest)[None, :]


def add(x, y):
    return x + y.to(x.device)


class Layer(nn.Module):
    def forward(self, x):
        mask = mask_of(x.size(1)).to(x.device)
        x = x * mask[:, :, None]
        return add(x, torch.ones(x.size(1), 1))
