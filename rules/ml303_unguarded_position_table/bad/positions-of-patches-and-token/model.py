import torch
from torch import nn


class Vision(nn.Module):
    def __init__(self, image=32, patch=4, width=64):
        super().__init__()
        self.conv = nn.Conv2d(3, width, patch, patch)
        n = (image // patch) ** 2
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Embedding(n, width)  # expect: ML303

    def forward(self, image):
        x = self.conv(image).flatten(2).permute(0, 2, 1)
        x = torch.cat([self.token.repeat(len(x), 1, 1), x], 1)
        return x + self.positions(torch.arange(x.shape[1], device=x.device))
