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
        cos, sin = self.rotary(q, seq_len=k.shape[-2])
        k = torch.cat([k[:, :1], k[:, 1:] * cos[position_ids] + k[:, 1:] * sin[position_ids]], dim=1)
        return q @ k.transpose(-1, -2)
