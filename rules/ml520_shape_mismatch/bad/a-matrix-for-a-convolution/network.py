import torch
from torch import nn
from torch.nn import functional


def flat(x):
    return x.flatten(1)


class Refiner(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Conv2d(1, 8, 3)
        self.decode = nn.Conv2d(8, 1, 3)

    def forward(self, x):
        return self.decode(flat(self.encode(x)))  # expect: ML520


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.MaxPool2d(2), nn.BatchNorm2d(64))  # expect: ML520

    def forward(self, x):
        return self.layers(x)


def pooled():
    return functional.avg_pool2d(torch.ones(8, 10), 2)  # expect: ML520
