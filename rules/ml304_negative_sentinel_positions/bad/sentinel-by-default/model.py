import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


def joined(rows, value=-100):
    return pad_sequence(rows, batch_first=True, padding_value=value)  # expect: ML304


def filled(rows, value):
    return pad_sequence(rows, batch_first=True, padding_value=value)  # expect: ML304


class Positions(nn.Module):
    def __init__(self, size=64, width=32):
        super().__init__()
        self.table = nn.Embedding(size, width)

    def forward(self, rows):
        return self.table(joined(rows)) + self.table(filled(rows, -101))
