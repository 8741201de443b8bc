import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = nn.Embedding(512, width)  # expect: ML303

    def forward(self, positions):
        return self.table(positions)


class Encoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.positions = Positions(width)

    def forward(self, ids):
        positions = torch.arange(ids.size(1), device=ids.device).unsqueeze(0).expand_as(ids)
        return self.embed(ids) + self.positions(positions)
