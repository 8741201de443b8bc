import torch
from torch import nn


class Open(nn.Module):
    def __init__(self, vocab=1000, width=8, padding_idx=2):
        super().__init__()
        self.padding_idx = padding_idx
        self.words = nn.Embedding(vocab, width, padding_idx=padding_idx)
        self.places = nn.Embedding(512, width, padding_idx=padding_idx)  # expect: ML303

    def forward(self, ids):
        """Args:
            ids: Token ids of shape (batch, length).
        """
        mask = ids.ne(self.padding_idx).int()
        positions = torch.cumsum(mask, dim=1) * mask + self.padding_idx
        return self.words(ids) + self.places(positions)


class Checked(nn.Module):
    def __init__(self, vocab=1000, width=8, padding_idx=2, max_positions=512):
        super().__init__()
        self.padding_idx = padding_idx
        self.max_positions = max_positions
        self.words = nn.Embedding(vocab, width, padding_idx=padding_idx)
        self.places = nn.Embedding(max_positions, width)  # expect: ML303

    def forward(self, ids):
        """Args:
            ids: Token ids of shape (batch, length).
        """
        if ids.size(1) > self.max_positions:
            raise ValueError("too long")
        mask = ids.ne(self.padding_idx).int()
        positions = torch.cumsum(mask, dim=1) * mask + self.padding_idx
        return self.words(ids) + self.places(positions)


class Cut(nn.Module):
    def __init__(self, vocab=1000, width=8):
        super().__init__()
        self.words = nn.Embedding(vocab, width, padding_idx=2)
        self.places = nn.Embedding(512, width, padding_idx=2)  # expect: ML303

    def forward(self, ids):
        """Args:
            ids: Token ids of shape (batch, length).
        """
        ids = ids[:, :512]
        mask = ids.ne(2).int()
        positions = (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + 2
        return self.words(ids) + self.places(positions)


class OneShort(nn.Module):
    def __init__(self, vocab=1000, width=8, padding_idx=2, max_positions=512):
        super().__init__()
        self.padding_idx = padding_idx
        self.max_positions = max_positions
        self.words = nn.Embedding(vocab, width, padding_idx=padding_idx)
        self.places = nn.Embedding(max_positions + padding_idx, width)  # expect: ML303

    def forward(self, ids):
        """Args:
            ids: Token ids of shape (batch, length).
        """
        ids = ids[:, : self.max_positions]
        mask = (ids != self.padding_idx).long()
        positions = mask.cumsum(1) * mask + self.padding_idx
        return self.words(ids) + self.places(positions)


class CutOnlyWhereTooLong(nn.Module):
    def __init__(self, vocab=1000, width=8, pad=2):
        super().__init__()
        self.pad = pad
        self.words = nn.Embedding(vocab, width, padding_idx=pad)
        self.places = nn.Embedding(512, width)  # expect: ML303

    def positions(self, ids):
        mask = ids.ne(self.pad).int()
        return torch.cumsum(mask, 1) * mask + self.pad

    def forward(self, ids):
        """Args:
            ids: Token ids of shape (batch, length).
        """
        if ids.size(1) > self.places.num_embeddings:
            ids = ids[:, : self.places.num_embeddings]
        return self.words(ids) + self.places(self.positions(ids))


class CutMask(nn.Module):
    def __init__(self, vocab=1000, width=8):
        super().__init__()
        self.words = nn.Embedding(vocab, width)
        self.places = nn.Embedding(512, width)  # expect: ML303

    def forward(self, ids, attention_mask):
        """Args:
            ids: Token ids of shape (batch, length).
            attention_mask: Mask of shape (batch, length).
        """
        ids, attention_mask = ids[:, :512], attention_mask[:, :512]
        positions = attention_mask.cumsum(-1) * attention_mask
        return self.words(ids) + self.places(positions)
