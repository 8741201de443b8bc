from torch import nn
import torch.nn.functional as F

from rope import rotate


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.projection = nn.Linear(config.width, 3 * config.width)

    def forward(self, x, angles=None):
        query, key, value = self.projection(x).chunk(3, dim=-1)
        if angles is not None:
            query, key = rotate(query, angles), rotate(key, angles)
        return F.scaled_dot_product_attention(query, key, value)
