import torch
from torch import nn


class Block(nn.Module):
    expansion = 2

    def __init__(self, inputs, width, stride=1, shortcut=None):
        super().__init__()
        self.first = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(width, width * self.expansion, 3, 1, 1, bias=False)
        self.shortcut = shortcut

    def forward(self, x):
        identity = x if self.shortcut is None else self.shortcut(x)
        return self.second(torch.relu(self.first(x))) + identity


class Network(nn.Module):
    def __init__(self, depths):
        super().__init__()
        self.inplanes = 16
        self.stem = nn.Conv2d(3, 16, 3, 1, 1)
        self.one = self._stage(16, depths[0], 1)
        self.two = self._stage(32, depths[1], 2)
        self.head = nn.Linear(64, 10)

    def _stage(self, width, depth, stride):
        shortcut = None
        if stride != 1 or self.inplanes != width * Block.expansion:
            shortcut = nn.Conv2d(self.inplanes, width * Block.expansion, 1, stride)
        layers = [Block(self.inplanes, width, stride, shortcut)]
        self.inplanes = width * Block.expansion
        for _ in range(1, depth):
            layers.append(Block(self.inplanes, width))
        return nn.Sequential(*layers)

    def forward(self, images):
        x = self.two(self.one(self.stem(images)))
        return self.head(x.mean((2, 3)))


print(Network([2, 2])(torch.randn(2, 3, 32, 32)).view(4, 5).shape)
