import torch
from torch import nn


class Rotary(nn.Module):
    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device)[:, None]
        return torch.cos(t), torch.sin(t)


class Padded(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, h):
        n = h.shape[1] + 2
        x = nn.functional.pad(h, (0, 0, 1, 1))
        cos, sin = self.rotary(x, n)
        return x * cos + x.flip(-1) * sin

    def with_registers(self, h, registers):
        cos, sin = self.rotary(h, h.size(1) + 4)
        h = torch.cat([registers, h], dim=1)
        return h * cos + h.flip(-1) * sin
