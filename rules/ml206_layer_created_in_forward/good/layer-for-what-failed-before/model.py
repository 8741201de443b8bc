import functools

from torch import nn


@functools.lru_cache
def make_proj(width):
    return nn.Linear(width, width)


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x):
        try:
            norm = self.norm
        except AttributeError:
            norm = self.norm = nn.LayerNorm(self.width)
        return make_proj(self.width)(norm(x))
