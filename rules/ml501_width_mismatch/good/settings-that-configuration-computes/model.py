from copy import deepcopy
import torch
from torch import nn


class Config:
    def __init__(self, descriptor_dim=256, channels=3):
        self.descriptor_dim = descriptor_dim
        self.channels = channels
        self.hidden_size = descriptor_dim
        self.intermediate_size = 2 * self.descriptor_dim

    @property
    def out_channels(self):
        return self.channels


class Mlp(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.mlp = nn.Linear(config.intermediate_size, config.hidden_size)
        self.first = nn.Conv2d(1, config.channels, 1)
        self.second = nn.Conv2d(config.out_channels, 1, 1)

    def forward(self, x, image):
        x = self.proj(x)  # reveal: [*, descriptor_dim]
        return self.mlp(torch.cat([x, x], dim=-1)), self.second(self.first(image))


class Copied:
    def __init__(self, width=64, narrow=32):
        self.width = width
        self.narrow = narrow


class Inner(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.norm = nn.LayerNorm(settings.width)

    def forward(self, x):
        return self.norm(x)


class Narrowed(nn.Module):
    def __init__(self, settings):
        super().__init__()
        copied = deepcopy(settings)
        copied.width = settings.narrow
        self.first = nn.Linear(settings.width, settings.narrow)
        self.inner = Inner(copied)

    def forward(self, x):
        return self.inner(self.first(x))
