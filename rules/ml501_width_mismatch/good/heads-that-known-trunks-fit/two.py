import torch
from torch import nn
from torchvision import models


def build():
    return models.resnet18()


def tuned():
    net = build()
    net.fc = nn.Linear(512, 10)
    return nn.Linear(10, 3)(net(torch.zeros(2, 3, 224, 224)))  # reveal: [2, 3] float32


def plain():
    net, other = build(), build()
    other.fc = nn.Linear(512, 7)
    last = nn.Linear(1000, 3)
    return last(net(torch.zeros(2, 3, 224, 224))), other(torch.zeros(2, 3, 224, 224))
