import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


def turn(q, k, cos, sin, position_ids):
    return q * cos[position_ids] + q * sin[position_ids], k * cos[position_ids] + k * sin[position_ids]


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rotary = Rotary()
        self.slices = nn.ModuleList([nn.Linear(width, width // 2), nn.Linear(width, width // 2)])

    def forward(self, q, hidden, position_ids, cache):
        k = torch.cat([part(hidden) for part in self.slices], dim=-1)
        cos, sin = self.rotary(q, seq_len=k.shape[-2])  # expect: ML302
        q, k = turn(q, k, cos, sin, position_ids)
        k = cache.update(k, 0)
        weights = torch.matmul(q, k.transpose(-1, -2))
        if weights.size() != (q.shape[0], q.shape[1], k.shape[1]):
            raise ValueError(weights.size())
        return weights
