import torch
from torch import nn


class Patches(nn.Module):
    def __init__(self, image_size=224, patch_size=16, channels=3, width=768):
        super().__init__()
        self.count = (image_size // patch_size) ** 2
        self.projection = nn.Conv2d(channels, width, kernel_size=patch_size, stride=patch_size)

    def forward(self, image):
        return self.projection(image).flatten(2).transpose(1, 2)


class Vision(nn.Module):
    def __init__(self, image_size=224, patch_size=16, width=768):
        super().__init__()
        self.patches = Patches(image_size, patch_size, width=width)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, self.patches.count + 1, width))

    def forward(self, image):
        x = self.patches(image)
        token = self.token.expand(x.shape[0], -1, -1)
        x = torch.cat((token, x), dim=1)
        return x + self.positions
