import torch
import torch.nn.functional as F


def focal(gamma=2.0):
    rest = 1 - torch.rand(3)
    return torch.exp(rest, gamma)  # expect: ML502


def average():
    x = torch.rand(3, 4)
    return x.mean(dim=1, keepdm=True)  # expect: ML502


def start(size=4):
    return torch.zeros(size, type=torch.float32)  # expect: ML502


def scores():
    return F.softmax(torch.rand(2, 5), axis=-1)  # expect: ML502


def swap_sides():
    return torch.rand(2, 3).transpose(1)  # expect: ML502
