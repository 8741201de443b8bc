import torch
from torch import nn
from torch.utils.data import DataLoader


class Tagger(nn.Module):
    def __init__(self, vocab=1000, width=64):
        super().__init__()
        self.vocab = vocab
        self.embed = nn.Embedding(vocab, width)  # expect: ML104

    def forward(self, rows, length):
        ids = torch.tensor([one + [self.vocab] * (length - len(one)) for one in rows], device=self.embed.weight.device)
        return self.embed(ids)


class Encoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Embedding(256, width)  # expect: ML104

    def forward(self, ids):
        return self.embed(ids)


def collate(items):
    longest = max(len(one) for one in items)
    padded = []
    for one in items:
        one = list(one)
        one.extend([256] * (longest - len(one)))
        padded.append(one)
    return torch.tensor(padded)


def train(data):
    model = Encoder()
    for batch in DataLoader(data, 8, collate_fn=collate):
        model(batch).sum().backward()
