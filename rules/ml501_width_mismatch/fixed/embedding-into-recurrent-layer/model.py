import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, words, tags, width=100):
        super().__init__()
        self.table = nn.Embedding(words, 128)
        self.characters = nn.Embedding(100, 32)
        self.rnn = nn.LSTM(160, 64, bidirectional=True, batch_first=True)
        self.head = nn.Linear(128, tags)

    def forward(self, ids):
        x = torch.cat([self.table(ids), self.characters(ids)], dim=-1)
        x, _ = self.rnn(x)  # expect: ML501
        return self.head(x[:, -1, :])


class BothWays(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.rnn = nn.GRU(80, 64, bidirectional=True, batch_first=True)
        self.norm = nn.LayerNorm(128)

    def forward(self, x):
        x, _ = self.rnn(x)
        return self.norm(x)  # expect: ML501
