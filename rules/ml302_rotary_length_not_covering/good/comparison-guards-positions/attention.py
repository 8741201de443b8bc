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

    def forward(self, q, k, position_ids, past=None):
        length = q.shape[1]
        if position_ids.max() >= length:
            raise ValueError("positions run ahead of the input")
        cos, sin = self.rotary(q, seq_len=length)
        k = k * cos[position_ids] + k.flip(-1) * sin[position_ids]
        if past is not None:
            k = torch.cat([past, k], dim=1)
        return q @ k.transpose(-1, -2)
