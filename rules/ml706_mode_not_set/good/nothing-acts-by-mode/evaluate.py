import torch
from torch import nn


class Plain(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.dropout = nn.Dropout(dropout)
        self.batch = nn.BatchNorm1d(8, track_running_stats=False)

    def forward(self, x):
        return self.dropout(self.batch(self.norm(x)))


class Choosing(nn.Module):
    def __init__(self, with_dropout=False):
        super().__init__()
        self.with_dropout = with_dropout
        self.dropout = nn.Dropout(0.5)
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        x = self.out(x)
        if self.with_dropout:
            x = self.dropout(x)
        return x


def main(path, inputs):
    plain, choosing = Plain(), Choosing()
    plain.load_state_dict(torch.load(path))
    choosing.load_state_dict(torch.load(path))
    with torch.no_grad():
        return plain(inputs) + choosing(inputs)
