import torch
from torch import nn


class Asking(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None
        self.device = None
        self.scale = None
        self.steps = {}

    def forward(self, x):
        length = x.size(1)
        if self.mask is None or self.mask.size(0) != length or self.mask.device != x.device:
            self.mask = torch.ones(length, length, device=x.device)
        if self.scale is None or self.device != x.device:
            self.device = x.device
            self.scale = torch.ones(length, device=x.device)
        if (length, x.device) not in self.steps:
            self.steps[length, x.device] = torch.arange(length, device=x.device)
        return x @ self.mask * self.scale + self.steps[length, x.device]


class Registering(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", None, persistent=False)
        self.steps = None

    def forward(self, x):
        length = x.size(1)
        if self.mask is None or self.mask.size(0) != length:
            self.mask = torch.ones(length, length, device=x.device)
        if self.steps is None or self.steps.size(0) < length:
            self.steps = torch.arange(length)
        return x @ self.mask + self.steps[:length].to(x.device)


class Following(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None

    def _apply(self, fn):
        super()._apply(fn)
        self.mask = None
        return self

    def forward(self, x):
        if self.mask is None:
            self.mask = torch.ones(x.size(1), device=x.device)
        return x * self.mask


class Bringing(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.mask = None

    @property
    def device(self):
        return next(self.parameters()).device

    @property
    def kept(self):
        if self.mask is None:
            self.mask = torch.ones(64, 64)
        if self.mask.device != self.device:
            self.mask = self.mask.to(device=self.device)
        return self.mask

    def forward(self, x: torch.Tensor):
        return self.lin(x).float() * self.kept[:, None, :]
