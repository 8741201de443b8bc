import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Words(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.table = nn.Embedding(words, 64)  # expect: ML104
        self.out = nn.Linear(64, words)

    def forward(self, ids):
        return self.out(self.table(ids))


def step(model: Words, rows):
    ids = pad_sequence(rows, batch_first=True, padding_value=-1)
    inputs, targets = ids[:, :-1], ids[:, 1:]
    return F.cross_entropy(model(inputs).transpose(1, 2), targets, ignore_index=-1)


class Letters(nn.Module):
    def __init__(self, letters, gap=-1):
        super().__init__()
        self.gap = gap
        self.table = nn.Embedding(letters, 32)  # expect: ML104
        self.out = nn.Linear(32, letters)

    def forward(self, ids, mask):
        ids = ids.masked_fill(~mask, self.gap)
        before, after = ids[:, :-1], ids[:, 1:]
        return F.cross_entropy(self.out(self.table(before)).mT, after, ignore_index=self.gap)


class Shifted(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.table = nn.Embedding(words, 64)  # expect: ML104
        self.out = nn.Linear(64, words)

    def forward(self, ids):
        ids = F.pad(ids, (1, 0), value=-1)
        return F.cross_entropy(self.out(self.table(ids[:, :-1])).mT, ids[:, 1:], ignore_index=-1)
