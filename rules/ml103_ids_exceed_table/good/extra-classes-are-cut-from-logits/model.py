import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=4096, n_special=64):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows + n_special)
        self.codebook = nn.Embedding(rows, width)

    def forward(self, hidden):
        logits = self.head(hidden)[..., : self.rows]
        return self.codebook(torch.multinomial(logits.softmax(-1), 1))
