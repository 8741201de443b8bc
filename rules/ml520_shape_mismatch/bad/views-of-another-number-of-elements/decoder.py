import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(100, 128 * 7 * 7)
        self.up = nn.ConvTranspose2d(128, 1, 4, stride=4)

    def forward(self, noise):
        x = self.project(noise)  # reveal: [*, 6272] float32
        x = x.view(noise.size(0), 128, 8, 8)  # expect: ML520
        return self.up(x)


def heads():
    x = torch.randn(2, 10, 96)
    return x.reshape(2, 10, 8, 16)  # expect: ML520


def rows():
    pixels = torch.arange(50)
    return pixels.view(-1, 8)  # expect: ML520
