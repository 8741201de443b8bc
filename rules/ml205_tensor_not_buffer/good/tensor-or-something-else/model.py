from collections.abc import Callable

import torch
from torch import Tensor, nn


class Scaled(nn.Module):
    def __init__(self, scale: Tensor | float, act: Callable[[Tensor], Tensor], start: Tensor, window: Tensor, rate: Tensor):
        super().__init__()
        self.scale = scale
        self.act = act
        self.start = nn.Parameter(start)
        self.register_buffer("window", window)
        self.rate = rate

    def forward(self, x):
        return self.act(x * self.scale + self.start) * self.window * self.rate.to(x)
