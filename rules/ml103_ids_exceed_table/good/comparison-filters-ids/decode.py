import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=4096):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows + 64)
        self.codebook = nn.Embedding(rows, width)

    def forward(self, hidden):
        ids = self.head(hidden).argmax(-1)
        kept = [i for i in ids.tolist() if i < self.rows]
        return self.codebook(torch.tensor(kept)) + self.codebook(ids[ids < self.rows])
