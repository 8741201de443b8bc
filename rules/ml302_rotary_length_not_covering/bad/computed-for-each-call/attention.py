import torch
from torch import nn

from rope import rope_table, rotate


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.project = nn.Linear(width, 2 * width)

    def forward(self, x, position_ids, past_key=None):
        q, k = self.project(x).chunk(2, dim=-1)
        batch, length, _ = x.size()
        cos, sin = rope_table(length, self.width, x.device)  # expect: ML302
        q, k = rotate(q, cos, sin, position_ids), rotate(k, cos, sin, position_ids)
        if past_key is not None:
            k = torch.cat((past_key, k), dim=1)
        return q @ k.transpose(-1, -2), k
