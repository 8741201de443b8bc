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
        if past is not None:
            k = torch.cat([past, k], dim=1)
        cos, sin = self.rotary(q, seq_len=k.shape[1])
        return (q * cos[position_ids] + q.flip(-1) * sin[position_ids]) @ k.transpose(-1, -2)
