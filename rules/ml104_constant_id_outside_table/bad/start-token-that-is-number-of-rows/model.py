import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, n, config, width):
        super().__init__()
        self.bos = n
        self.config = config
        self.first = nn.Embedding(n, width)  # expect: ML104
        self.second = nn.Embedding(config.vocab_size, width)  # expect: ML104

    def forward(self, ids, mask):
        start = torch.full((2,), self.bos)
        return self.first(start) + self.second(ids.masked_fill(mask, self.config.vocab_size))
