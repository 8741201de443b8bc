import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=1024):
        super().__init__()
        self.head = nn.Linear(width, rows)
        self.embed = nn.Embedding(rows + 2, width, padding_idx=rows)

    def forward(self, hidden):
        ids = self.head(hidden).argmax(-1)
        start = torch.full_like(ids[:, :1], self.embed.padding_idx)
        return self.embed(torch.cat([start, ids], dim=1))
