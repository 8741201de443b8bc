import torch
from torch import nn
from torch.nn import functional as F


class Tagger(nn.Module):
    def __init__(self, words, tags):
        super().__init__()
        self.embed = nn.Embedding(words, 32)
        self.rnn = nn.LSTM(32, 64, batch_first=True)
        self.tag = nn.Linear(64, tags)
        self.tags = tags

    def scores(self, ids):
        states, _ = self.rnn(self.embed(ids))
        return self.tag(states).softmax(-1)

    def forward(self, ids, tags):
        found = self.scores(ids).float().view(-1, self.tags)
        return F.cross_entropy(found, tags.view(-1))  # expect: ML701
