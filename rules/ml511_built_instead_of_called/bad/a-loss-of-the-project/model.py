import torch
from torch import nn


class VolumeLoss(nn.Module):
    def __init__(self, weight=None, scale=None):
        super().__init__()
        self.weight = weight
        self.scale = scale

    def forward(self, pred, target):
        return (pred - target).abs().mean()


def step(pred: torch.Tensor, target: torch.Tensor):
    loss = VolumeLoss(pred, target)  # expect: ML511
    loss.backward()


step(torch.ones(2), torch.zeros(2))
