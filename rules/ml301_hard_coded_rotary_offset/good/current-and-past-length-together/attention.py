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

    def forward(self, q, k, position_ids, cache_position, past=None):
        kv_seq_len = k.shape[-2]
        if past is not None:
            kv_seq_len += past[0].shape[-2]
        elif cache_position is not None:
            kv_seq_len = cache_position[-1] + 1
        cos, sin = self.rotary(q, seq_len=kv_seq_len)
        return q * cos[position_ids] + k * sin[position_ids]
