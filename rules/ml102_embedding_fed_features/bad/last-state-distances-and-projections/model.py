import torch
from torch import nn


class Scale(nn.Module):
    def forward(self, x):
        return torch.tanh(x)


class Reader(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.lstm = nn.LSTM(width, width)
        self.gru = nn.GRU(width, width)
        self.matrix = nn.Parameter(torch.randn(width, width))
        self.front = nn.Sequential(nn.Linear(width, width), Scale())
        self.embed = nn.Embedding(rows, width)

    def forward(self, x):
        _, (state, _) = self.lstm(x)
        _, last = self.gru(x)
        both = self.embed(state) + self.embed(last)  # expect: ML102, ML102
        far = self.embed(torch.cdist(x, x))  # expect: ML102
        turned = self.embed(torch.matmul(x, self.matrix))  # expect: ML102
        return both + far + turned + self.embed(self.front(x))  # expect: ML102
