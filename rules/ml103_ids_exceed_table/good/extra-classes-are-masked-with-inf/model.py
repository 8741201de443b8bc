import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64, rows=4096, n_special=64):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows + n_special)
        self.codebook = nn.Embedding(rows, width)

    def forward(self, hidden):
        logits = self.head(hidden)
        logits[..., self.rows :] = float("-inf")
        masked = logits.masked_fill(torch.arange(logits.size(-1)) >= self.rows, float("-inf"))
        return self.codebook(logits.argmax(-1)) + self.codebook(masked.argmax(-1))
