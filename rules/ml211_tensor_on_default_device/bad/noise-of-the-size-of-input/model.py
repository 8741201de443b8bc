import numpy as np
import torch
from torch import nn


class Noisy(nn.Module):
    def __init__(self, width, mode="add"):
        super().__init__()
        if mode not in ("add", "scale"):
            raise ValueError(mode)
        self.mode = mode
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        x = self.lin(x)
        noise = torch.from_numpy(np.random.rand(*x.shape))  # expect: ML211
        if self.mode == "add":
            return x + noise
        return x * torch.ones(x.shape)  # expect: ML211


def main():
    Noisy(8).to("cuda")
