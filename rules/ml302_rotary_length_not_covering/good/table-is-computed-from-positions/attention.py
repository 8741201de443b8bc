import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, position_ids, seq_len=None):
        angles = position_ids[..., None].float()
        return torch.cos(angles), torch.sin(angles)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, q, k, position_ids, past=None):
        cos, sin = self.rotary(q, position_ids, seq_len=k.shape[-2])
        k = k * cos + k.flip(-1) * sin
        if past is not None:
            k = torch.cat([past, k], dim=-2)
        return q @ k.transpose(-1, -2)
