import torch
from torch import nn


class Shifted(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, ids, mask):
        ids = ids.masked_fill(mask, -100)
        return self.embed(ids[:, :-1].clamp(min=0))


class Behind(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, ids, mask):
        labels = torch.where(mask, ids, -100)
        return self.embed(labels[:, 1:].clamp(min=0))


class Both(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.head = nn.Linear(width, vocab_size)

    def forward(self, ids, mask):
        labels = ids.masked_fill(mask, -100)
        scores = self.head(self.embed(labels[:, :-1].clamp(min=0)))
        return nn.functional.cross_entropy(scores.transpose(1, 2), labels[:, 1:])


class Ends(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, ids, mask):
        gaps = ids.masked_fill(mask, -2)
        return self.embed(gaps[:, :-1].clamp(min=0)) - self.embed(gaps[:, 1:].clamp(min=0))


class First(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, ids):
        labels = nn.functional.pad(ids, (0, 1), value=-100)
        return self.embed(labels[:, :-1]), labels[:, 1:]
