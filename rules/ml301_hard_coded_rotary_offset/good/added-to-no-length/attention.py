import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, q, k, position_ids):
        length = k.size(1)
        cos, sin = self.rotary(q, length)
        return (q * cos[position_ids]) @ (k * sin[position_ids]).transpose(-1, -2)[..., : length + 10]
