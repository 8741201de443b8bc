import torch
from torch import nn


class VectorQuantiser(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.codebook = nn.Embedding(rows, width)

    def forward(self, x):
        x = self.proj(x)
        distances = torch.cdist(x, self.codebook.weight)
        nearest = distances.argmin(dim=-1)
        return self.codebook(nearest), self.codebook.weight[nearest]
