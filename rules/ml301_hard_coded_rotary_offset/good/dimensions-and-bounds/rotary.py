import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim=128, longest=4096):
        super().__init__()
        self.longest = longest + 8
        angles = torch.arange(self.longest)[:, None] * 10000.0 ** -(torch.arange(0, dim - 2, 2) / dim)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def forward(self, x, position_ids):
        rotated, rest = x[..., :-2], x[..., -2:]
        position_ids = position_ids.clamp(max=self.longest - 8)
        return rotated * self.cosines[position_ids] + rest.sum() * self.sines[position_ids]
