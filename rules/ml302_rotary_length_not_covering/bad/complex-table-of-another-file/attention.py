import torch
from torch import nn

from angles import Angles


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.turns = Angles(dim)

    def forward(self, q, k, position_ids, past=None):
        table = self.turns(q.shape[1])  # expect: ML302
        q = torch.view_as_complex(q.unflatten(-1, (-1, 2)))
        q = torch.view_as_real(q * table[position_ids]).flatten(-2)
        if past is not None:
            k = torch.cat([past, k], dim=1)
        return q @ k.transpose(-1, -2), k
