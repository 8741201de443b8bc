import torch
import torch.nn.functional as F
from torch import nn


class Losses(nn.Module):
    def __init__(self, weights: list[float]):
        super().__init__()
        self.weights = weights

    def forward(self, outputs, targets):
        loss = torch.zeros(1)  # expect: ML211
        for weight, output in zip(self.weights, outputs):
            loss = loss + weight * F.mse_loss(output, targets)
        return loss
