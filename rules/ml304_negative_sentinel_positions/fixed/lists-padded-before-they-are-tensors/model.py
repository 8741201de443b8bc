import torch
from torch import nn

NOTHING = -100


class Tagger(nn.Module):
    def __init__(self, vocab=1000, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids):
        return self.head(self.embed(ids))


class Places(nn.Module):
    def __init__(self, rows=512, width=64):
        super().__init__()
        self.places = nn.Embedding(rows, width)

    def forward(self, x, lengths):
        longest = max(lengths)
        rows = [list(range(n)) + [0] * (longest - n) for n in lengths]  # expect: ML304
        return x + self.places(torch.tensor(rows, device=x.device))


def tag(rows, length):
    batch = [list(ids) + [0] * (length - len(ids)) for ids in rows]  # expect: ML304
    return Tagger()(torch.tensor(batch))


def tag_each(rows, length):
    batch = []
    for row in rows:
        ids = list(row)
        ids += [0] * (length - len(ids))  # expect: ML304
        batch.append(ids)
    return Tagger()(torch.tensor(batch))


def tag_copies(rows, length):
    batch = []
    for row in rows:
        ids = list(row)
        ids.extend([0] * (length - len(ids)))  # expect: ML304
        batch.append(torch.LongTensor(ids))
    return Tagger()(torch.stack(batch))
