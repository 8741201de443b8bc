import torch.nn.functional as F
from torch import nn


class Head(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.key = nn.Linear(width, size)
        self.query = nn.Linear(width, size)

    def forward(self, x, mask=False):
        B, T, C = x.shape
        k = self.key(x)
        q = self.query(x)
        weights = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        if mask:
            weights = weights.masked_fill(self.mask == 0, float("-inf"))
        return F.softmax(weights, dim=-1)  # expect: ML505
