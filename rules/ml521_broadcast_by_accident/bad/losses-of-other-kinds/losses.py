import torch
import torch.nn.functional as F
from torch import nn


class Quantiles(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 1)
        self.smooth = nn.SmoothL1Loss()
        self.huber = nn.HuberLoss(delta=0.5)

    def forward(self, x):
        rows, _ = x.shape
        scores = self.fc(x)
        target = torch.linspace(0, 1, rows)
        first = self.smooth(scores, target)  # expect: ML521
        second = self.huber(target, scores)  # expect: ML521
        return first + second + F.l1_loss(scores, target)  # expect: ML521
