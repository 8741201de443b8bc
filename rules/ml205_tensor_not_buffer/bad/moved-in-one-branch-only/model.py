import torch
from torch import nn


class Windowed(nn.Module):
    def __init__(self, size, mode):
        super().__init__()
        self.mode = mode
        self.window = torch.hann_window(size)  # expect: ML205

    def forward(self, x):
        if self.mode == "complex":
            window = self.window.to(x.device)
        else:
            window = self.window
        return x * window


class Adjusted(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.prior = torch.ones(width)  # expect: ML205

    def forward(self, x, normalise=False):
        return self.lin(x) + (self.prior.to(x.device) if normalise else self.prior)
