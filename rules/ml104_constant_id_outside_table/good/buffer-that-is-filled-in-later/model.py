import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, n, config, width):
        super().__init__()
        self.last = n - 1
        self.pad = config.pad_token_id
        self.first = nn.Embedding(n, width)
        self.second = nn.Embedding(config.vocab_size, width)

    def forward(self, ids, mask):
        start = torch.full((2,), self.last)
        return self.first(start) + self.second(ids.masked_fill(mask, self.pad))
