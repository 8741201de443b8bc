import torch
from torch import nn


class Enough(nn.Module):
    def __init__(self, vocab, width=8, padding_idx=1, max_positions=512):
        super().__init__()
        self.padding_idx = padding_idx
        self.max_positions = max_positions
        self.words = nn.Embedding(vocab, width, padding_idx=padding_idx)
        self.places = nn.Embedding(max_positions + padding_idx + 1, width)

    def forward(self, ids):
        if ids.size(1) > self.max_positions:
            raise ValueError("too long")
        mask = ids.ne(self.padding_idx).int()
        positions = torch.cumsum(mask, dim=1) * mask + self.padding_idx
        return self.words(ids) + self.places(positions)


class Numbers(nn.Module):
    def __init__(self, vocab, width=8):
        super().__init__()
        self.words = nn.Embedding(vocab, width, padding_idx=1)
        self.places = nn.Embedding(514, width, padding_idx=1)

    def forward(self, ids):
        ids = ids[:, :512]
        mask = ids.ne(1).int()
        positions = (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + 1
        return self.words(ids) + self.places(positions)


class CutShorter(nn.Module):
    def __init__(self, vocab, width=8, padding_idx=1):
        super().__init__()
        self.padding_idx = padding_idx
        self.words = nn.Embedding(vocab, width, padding_idx=padding_idx)
        self.places = nn.Embedding(512, width)

    def forward(self, ids):
        ids = ids[:, : self.places.num_embeddings - self.padding_idx - 1]
        mask = ids.ne(self.padding_idx).int()
        positions = torch.cumsum(mask, dim=1) * mask + self.padding_idx
        return self.words(ids) + self.places(positions)


class Compared(nn.Module):
    def __init__(self, vocab, width=8, padding_idx=1):
        super().__init__()
        self.padding_idx = padding_idx
        self.words = nn.Embedding(vocab, width, padding_idx=padding_idx)
        self.places = nn.Embedding(512, width)

    def forward(self, ids):
        mask = ids.ne(self.padding_idx).int()
        positions = torch.cumsum(mask, dim=1) * mask + self.padding_idx
        if positions.max() >= self.places.num_embeddings:
            raise ValueError("too long")
        return self.words(ids) + self.places(positions)


class Clamped(nn.Module):
    def __init__(self, vocab, width=8, padding_idx=1):
        super().__init__()
        self.padding_idx = padding_idx
        self.words = nn.Embedding(vocab, width, padding_idx=padding_idx)
        self.places = nn.Embedding(512, width)

    def forward(self, ids):
        mask = ids.ne(self.padding_idx).int()
        positions = torch.cumsum(mask, dim=1) * mask + self.padding_idx
        return self.words(ids) + self.places(positions.clamp(max=511))


class FromZero(nn.Module):
    def __init__(self, vocab, width=8):
        super().__init__()
        self.words = nn.Embedding(vocab, width)
        self.places = nn.Embedding(512, width)

    def forward(self, ids, attention_mask):
        ids, attention_mask = ids[:, :512], attention_mask[:, :512]
        positions = (attention_mask.cumsum(-1) - 1).clamp(min=0)
        return self.words(ids) + self.places(positions)


class Shorter(nn.Module):
    def __init__(self, vocab, width=8, padding_idx=1, max_positions=512):
        super().__init__()
        self.padding_idx = padding_idx
        self.words = nn.Embedding(vocab, width, padding_idx=padding_idx)
        self.places = nn.Embedding(max_positions, width)
        self.max_length = max_positions - padding_idx - 1

    def forward(self, ids):
        if ids.size(1) > self.max_length:
            raise ValueError("too long")
        mask = ids.ne(self.padding_idx).int()
        positions = torch.cumsum(mask, dim=1) * mask + self.padding_idx
        return self.words(ids) + self.places(positions)


class Kinds(nn.Module):
    """A running total that is no position: the number of the sentence."""

    def __init__(self, width=8, sep=2):
        super().__init__()
        self.sep = sep
        self.kinds = nn.Embedding(16, width)

    def forward(self, ids):
        kinds = (ids == self.sep).long().cumsum(1)
        return self.kinds(kinds % 16)
