import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, ids, mask):
        marked = ids.masked_fill(mask, -100)
        kept = marked[marked != -100]
        return self.embed(kept)
