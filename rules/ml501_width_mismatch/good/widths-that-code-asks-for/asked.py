import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.proj = nn.Linear(inputs, 32)
        self.grey = nn.Conv2d(1, 8, 3)
        self.colour = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        if x.shape[1] == 1:
            return self.grey(x)
        return self.colour(x)

    def projected(self, x):
        if x.shape[-1] != self.proj.in_features:
            x = torch.nn.functional.pad(x, (0, self.proj.in_features - x.shape[-1]))
        return self.proj(x)


def least_width(layer):
    codes = torch.zeros(2, 6)
    try:
        return nn.Linear(5, 3)(codes)
    except RuntimeError:
        return nn.Linear(6, 3)(codes)


print(Adapter(9)(torch.zeros(1, 3, 8, 8)).shape, Adapter(9).projected(torch.zeros(2, 5)).shape)
