import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


class CrossAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, q, k, memory=None):
        length = q.shape[1]
        position_ids = torch.arange(length, device=q.device)
        cos, sin = self.rotary(q, seq_len=length)
        q = q * cos[position_ids] + q.flip(-1) * sin[position_ids]
        if memory is not None:
            k = torch.cat([memory, k], dim=1)
        return q @ k.transpose(-1, -2)
