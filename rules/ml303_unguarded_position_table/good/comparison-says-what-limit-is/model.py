import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.positions = nn.Embedding(1024, width)

    def forward(self, ids):
        length = ids.size(1)
        if length > self.positions.num_embeddings:
            raise ValueError("at most 1024 tokens")
        return self.embed(ids) + self.positions(torch.arange(length, device=ids.device))
