import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Embedding(100, width)

    def forward(self, texts):
        ids = torch.full((len(texts), 12), -1)
        for row, text in enumerate(texts):
            ids[row] = text.clamp(0, 99)
        return self.embed(ids)

    def one(self, text, mask):
        ids = text.masked_fill(mask, -1)
        if (ids == -1).any():
            return None
        return self.embed(ids)
