import torch
from torch import nn

WIDTHS = {"small": [16, "pool", 32, "pool", 64]}


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = self.stack(WIDTHS["small"])
        self.head = nn.Linear(128, 10)

    def stack(self, widths):
        layers, width = [], 3
        for one in widths:
            if one == "pool":
                layers += [nn.MaxPool2d(2)]
            else:
                layers += [nn.Conv2d(width, one, 3, padding=1), nn.BatchNorm2d(one), nn.ReLU()]
                width = one
        return nn.Sequential(*layers)

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3)))  # expect: ML501


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        layers, width = [], 8
        for one in (16, 32, 64):
            layers.append(nn.Linear(width, one))  # expect: ML501
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


class Block(nn.Module):
    def __init__(self, inside, outside, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, 3, stride=stride, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))


class Stages(nn.Module):
    def __init__(self, block, numbers):
        super().__init__()
        self.width = 64
        self.stem = nn.Conv2d(3, 64, 3, padding=1)
        self.first = self.stage(block, 64, numbers[0], 1)
        self.second = self.stage(block, 128, numbers[1], 2)
        self.head = nn.Linear(512, 10)

    def stage(self, block, width, number, stride):
        layers = []
        for one in [stride] + [1] * (number - 1):
            layers.append(block(self.width, width, one))
            self.width = width
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.second(self.first(self.stem(x)))
        x = nn.functional.adaptive_avg_pool2d(x, 1)
        return self.head(x.view(x.size(0), -1))  # expect: ML501


def train(images=16):
    net = Stages(Block, [2, 2])
    return net(torch.randn(images, 3, 32, 32))
