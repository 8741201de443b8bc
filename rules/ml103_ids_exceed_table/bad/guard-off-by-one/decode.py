import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.head = nn.Linear(width, 4100)
        self.codebook = nn.Embedding(4096, width)

    def forward(self, hidden):
        codes = self.head(hidden).argmax(-1)
        if (codes > 4096).any():  # expect: ML103
            raise ValueError("no such code")
        return self.codebook(codes)
