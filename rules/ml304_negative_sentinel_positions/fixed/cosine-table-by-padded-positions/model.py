import torch
import torch.nn.functional as F
from torch import nn

PAD_POSITION = -1000


class Rotary(nn.Module):
    def __init__(self, longest, dim):
        super().__init__()
        angles = torch.arange(longest)[:, None] / 10000.0 ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("cosines", torch.cos(angles))

    def forward(self, x, position_ids, missing):
        position_ids = F.pad(position_ids, (0, missing), value=0)  # expect: ML304
        return x * self.cosines[position_ids]
