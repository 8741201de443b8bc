import torch
from torch import nn


class Writer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.table = nn.Embedding(config.vocabulary, 96)
        self.body = nn.GRU(96, 96, batch_first=True)
        self.head = nn.Linear(96, config.classes)

    def write(self, ids, steps):
        for _ in range(steps):
            hidden, _ = self.body(self.table(ids))
            drawn = self.head(hidden[:, -1]).argmax(-1, keepdim=True)
            ids = torch.cat([ids, drawn], dim=1)
        return ids


class Speaker(nn.Module):
    def __init__(self, tokens, classes):
        super().__init__()
        self.table = nn.Embedding(tokens, 96)
        self.head = nn.Linear(96, classes)

    def speak(self, ids):
        drawn = self.head(self.table(ids)).argmax(-1)
        return self.table(drawn)


class Bytes(nn.Module):
    def __init__(self, symbols):
        super().__init__()
        self.table = nn.Embedding(symbols, 256)

    def write(self, ids):
        return self.table(self.table(ids).argmax(-1))
