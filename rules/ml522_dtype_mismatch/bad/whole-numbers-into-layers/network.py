import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.project = nn.Linear(1, width)
        self.register_buffer("places", torch.arange(16).unsqueeze(1))

    def forward(self, x):
        return x + self.project(self.places)  # expect: ML522


class Stem(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, image):
        return self.norm(self.conv(image))


class Try(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())

    def forward(self, image):
        pixels = image.mul(255).byte()
        return self.stem(pixels)  # expect: ML522
