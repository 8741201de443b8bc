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


class FromTable(nn.Module):
    def __init__(self, name):
        super().__init__()
        trunk = {"small": models.resnet18, "large": models.resnet50}[name]()
        self.body = nn.Sequential(*list(trunk.children())[:-2])
        self.neck = nn.Conv2d({"small": 512, "large": 2048}[name], 64, 1)

    def forward(self, images):
        return self.neck(self.body(images))
