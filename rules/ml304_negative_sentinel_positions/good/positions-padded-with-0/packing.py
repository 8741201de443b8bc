import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Packed(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.embed = nn.Embedding(longest, width)

    def forward(self, lengths):
        positions = [torch.arange(length) for length in lengths]
        return self.embed(pad_sequence(positions, batch_first=True, padding_value=0))
