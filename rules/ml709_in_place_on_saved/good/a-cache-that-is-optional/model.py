import torch
from torch import nn


class Recurrent(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.decay = nn.Parameter(torch.ones(width))

    def states(self, cache, rows):
        if "state" not in cache.held:
            cache.held["state"] = torch.zeros(rows, 8), torch.zeros(rows, 8)
            return cache.held["state"]
        return torch.zeros(rows, 8), torch.zeros(rows, 8)

    def step(self, x, state):
        state.copy_(state * self.decay.exp() + self.proj(x))
        return state

    def forward(self, x, cache=None):
        if cache is not None:
            _, state = self.states(cache, len(x))
            return self.step(x, state)
        return self.proj(x)
