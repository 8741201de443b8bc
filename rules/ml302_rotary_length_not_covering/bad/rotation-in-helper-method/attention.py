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

    def rotate(self, x, cos, sin, ids):
        return x * cos[ids] + x.flip(-1) * sin[ids]

    def forward(self, q, k, position_ids, layer_past=None):
        cos, sin = self.rotary(q, seq_len=q.shape[1])  # expect: ML302
        q, k = self.rotate(q, cos, sin, position_ids), self.rotate(k, cos, sin, position_ids)
        if layer_past is not None:
            k = torch.cat([layer_past, k], dim=1)
        return q @ k.transpose(-1, -2)
