import torch
from torch import nn


class GridPositions(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.rows = nn.Embedding(50, width)
        self.columns = nn.Embedding(50, width)

    def forward(self, x):
        height, width = x.shape[-2:]
        rows = torch.arange(height, device=x.device).clamp(max=49)
        columns = torch.arange(min(width, 50), device=x.device)
        return self.rows(rows)[:, None] + self.columns(columns)[None]
