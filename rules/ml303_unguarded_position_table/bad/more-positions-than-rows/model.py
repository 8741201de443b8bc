import torch
from torch import nn


class Vision(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.conv = nn.Conv2d(3, config.width, config.patch, config.patch)
        count = (config.image // config.patch) ** 2
        self.token = nn.Parameter(torch.zeros(1, 1, config.width))
        self.positions = nn.Embedding(count, config.width)  # expect: ML303
        self.register_buffer("ids", torch.arange(count + 1))

    def forward(self, image):
        x = self.conv(image).flatten(2).permute(0, 2, 1)
        x = torch.cat([self.token.repeat(len(x), 1, 1), x], 1)
        return x + self.positions(self.ids)


class Words(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.length = length
        self.positions = nn.Embedding(length, width)  # expect: ML303

    def forward(self, x):
        ids = torch.arange(self.length, device=x.device) + 1
        return x + self.positions(ids)
