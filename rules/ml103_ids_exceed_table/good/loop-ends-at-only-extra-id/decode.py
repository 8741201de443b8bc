import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=1024):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows + 1)
        self.codebook = nn.Embedding(rows, width)

    def forward(self, hidden, steps):
        ids = []
        for _ in range(steps):
            token = self.head(hidden).argmax(-1).item()
            if token == self.rows:
                break
            ids.append(token)
        return self.codebook(torch.tensor(ids))
