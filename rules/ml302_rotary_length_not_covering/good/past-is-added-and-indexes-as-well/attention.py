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

    def forward(self, q, k, past=None):
        length = k.shape[-2]
        if past is not None:
            length += past.shape[-2]
        position_ids = torch.arange(length - k.shape[-2], length, device=k.device)
        cos, sin = self.rotary(q, seq_len=length)
        k = k * cos[position_ids] + k.flip(-1) * sin[position_ids]
        if past is not None:
            k = torch.cat([past, k], dim=-2)
        return q @ k.transpose(-1, -2)
