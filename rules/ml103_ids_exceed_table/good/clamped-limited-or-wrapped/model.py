import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=4096):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows + 64)
        self.codebook = nn.Embedding(rows, width)
        self.places = nn.Embedding(2 * rows + 1, width)

    def forward(self, hidden):
        ids = self.head(hidden).argmax(-1)
        clamped = self.codebook(ids.clamp(0, self.rows - 1)) + self.places(ids.clamp(0, 2 * self.rows))
        smaller = self.codebook(torch.minimum(ids, torch.tensor(self.rows - 1)))
        wrapped = self.codebook(ids % self.rows)
        chosen = self.codebook(torch.where(ids < self.rows, ids, 0))
        return clamped + smaller + wrapped + chosen
