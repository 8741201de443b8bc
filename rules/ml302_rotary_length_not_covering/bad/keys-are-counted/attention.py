import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, longest=2048):
        super().__init__()
        self.frequencies = 1.0 / 10000.0 ** (torch.arange(0, dim, 2) / dim)
        self.grow(longest)

    def grow(self, length):
        self.longest = length
        angles = torch.outer(torch.arange(length), self.frequencies)
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)

    def forward(self, x, seq_len):
        if seq_len > self.longest:
            self.grow(seq_len)
        return self.cosines[:seq_len], self.sines[:seq_len]


def rotated(x, cos, sin, position_ids):
    return x * cos[position_ids] + x.flip(-1) * sin[position_ids]


class Attention(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.rotary = Rotary(dim)

    def forward(self, q, k, position_ids, past=None):
        length = k.shape[-2]
        if past is not None:
            length += past.get_seq_length()
        cos, sin = self.rotary(q, seq_len=length)  # expect: ML302
        q, k = rotated(q, cos, sin, position_ids), rotated(k, cos, sin, position_ids)
        return q @ k.transpose(-1, -2)
