import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 10000.0 ** -(torch.arange(0, dim, 2) / dim))

    def forward(self, x, seq_len=None):
        t = torch.arange(seq_len, device=x.device)
        angles = torch.einsum("i,j->ij", t, self.inv_freq)
        return angles.cos(), angles.sin()


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)

    def forward(self, q, k, position_ids, past=None):
        kv_seq_len = k.shape[-2]
        if past is not None:
            kv_seq_len += past[0].shape[-2]
        cos, sin = self.rotary(q, seq_len=position_ids.max() + 1)  # expect: ML301
        return q * cos[position_ids] + k * sin[position_ids]
