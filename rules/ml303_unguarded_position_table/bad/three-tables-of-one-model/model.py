import torch
from torch import nn


class Words(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.places = nn.Embedding(200, width)  # expect: ML303

    def forward(self, ids):
        return self.embed(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))


class Steps(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.steps = nn.Parameter(torch.zeros(220, width))  # expect: ML303

    def forward(self, ids):
        batch, length = ids.shape
        return self.embed(ids) + self.steps[:length]


class Turns(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.register_buffer("turns", torch.zeros(1, 240, width))  # expect: ML303

    def forward(self, ids):
        return self.embed(ids) + self.turns[:, : ids.size(1)]
