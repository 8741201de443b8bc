import torch
import torch.nn.functional as F
from torch import nn


def crop(skip, x):
    _, _, height, width = x.shape
    return skip[:, :, :height, :width]


def decode(skip, x, width):
    x = F.interpolate(x, scale_factor=2)
    x = torch.cat([crop(skip, x), x], dim=1)
    return nn.Conv2d(64, width, 3, padding=1)(x)  # expect: ML501


def network(images):
    left = nn.Conv2d(1, 32, 3, padding=1)(images)
    deep = nn.Conv2d(32, 32, 3, padding=1)(F.max_pool2d(F.relu(left), 2))
    return decode(left, deep, 16)
