import torch
from torch import nn


class Vision(nn.Module):
    def __init__(self, config):
        super().__init__()
        count = (config.image // config.patch) ** 2
        self.total = count + 1
        self.positions = nn.Embedding(self.total, config.width)
        self.register_buffer("ids", torch.arange(self.total).expand((1, -1)))

    def forward(self, x):
        return x + self.positions(self.ids)


class Cut(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.positions = nn.Embedding(length, width)
        self.register_buffer("ids", torch.arange(length + 1))

    def forward(self, x):
        return x + self.positions(self.ids[: x.shape[1]]) + self.positions(self.ids.clamp(max=x.shape[1]))


class Either(nn.Module):
    def __init__(self, length, width, has_token):
        super().__init__()
        if has_token:
            self.positions = nn.Embedding(length + 1, width)
            self.ids = torch.arange(length + 1)
        else:
            self.positions = nn.Embedding(length, width)
            self.ids = torch.arange(length)

    def forward(self, x):
        return x + self.positions(self.ids.to(x.device))


class Wrapped(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.length = length
        self.positions = nn.Embedding(length, width)

    def forward(self, x):
        ids = torch.arange(self.length + 1, device=x.device) % self.length
        return x + self.positions(ids) + self.positions(torch.arange(1, self.length, device=x.device))
