import numpy as np
import torch
from torch import nn


class Counts(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, image):
        mask = np.exp(np.asarray(image))
        painted = mask * 2
        mask *= 0.5
        names = ["a"]
        names += ["b"]
        loss = self.proj(x).sum()
        total = 0
        total += loss
        total += 1
        return total, painted, mask, names
