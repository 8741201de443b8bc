import torch
from torch import nn


class Vocoder(nn.Module):
    def __init__(self, rows=2048, width=64):
        super().__init__()
        self.table = nn.Embedding(rows, width)

    def from_codes(self, codes):
        return self.table(codes)


class Model(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.head = nn.Linear(width, 2051)
        self.vocoder = Vocoder()

    def sample(self, hidden):
        values, ids = torch.topk(self.head(hidden), 1)
        return ids.squeeze(-1)

    def forward(self, hidden, steps):
        tokens = self.sample(hidden)
        for _ in range(steps):
            tokens = torch.cat([tokens, self.sample(hidden)], dim=-1)
        return self.vocoder.from_codes(tokens)  # expect: ML103
