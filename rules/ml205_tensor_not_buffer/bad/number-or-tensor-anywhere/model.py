import torch
from torch import nn


class Schedule(nn.Module):
    def __init__(self, width, steps):
        super().__init__()
        self.net = nn.Linear(width, width)
        self.levels = torch.linspace(1, 0, steps)  # expect: ML205

    def forward(self, x, time):
        if not isinstance(time, torch.Tensor):
            time = float(time)
        at = torch.argmin((self.levels - time).abs())
        return self.net(x) * self.levels[at]
