import torch
from torch import nn

from angles import Angles


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.turns = Angles(dim)

    def forward(self, q, position_ids):
        table = self.turns(position_ids.max() + 1)  # expect: ML301
        q = torch.view_as_complex(q.unflatten(-1, (-1, 2)))
        return torch.view_as_real(q * table[position_ids]).flatten(-2)
