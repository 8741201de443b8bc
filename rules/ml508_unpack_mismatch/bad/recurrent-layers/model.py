import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.LSTM(width, width, batch_first=True)

    def forward(self, x):
        y, h, c = self.rnn(x)  # expect: ML508
        return y

    def parts(self, x):
        y, _ = self.rnn(x)
        half = y.shape[-1] // 2
        q, k, v = torch.split(y, [half, y.shape[-1] - half], dim=-1)  # expect: ML508
        return q

    def largest(self, x):
        best = torch.topk(x, 3)
        values, ids, rest = best  # expect: ML508
        return values
