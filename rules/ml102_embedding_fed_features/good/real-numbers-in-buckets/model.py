import torch
from torch import nn


class VarianceAdaptor(nn.Module):
    def __init__(self, width, n_bins=256):
        super().__init__()
        self.predict = nn.Linear(width, 1)
        self.register_buffer("bins", torch.linspace(-2, 2, n_bins - 1))
        self.embed = nn.Embedding(n_bins, width)

    def forward(self, x):
        pitch = self.predict(x).squeeze(-1)
        return x + self.embed(torch.bucketize(pitch, self.bins))
