import torch
import torch.nn.functional as F
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(128, 1)
        self.loss = nn.BCEWithLogitsLoss()

    def forward(self, features):
        return self.head(features)


def detect():
    scores = Detector()(torch.randn(32, 128))
    labels = torch.ones(32)
    return nn.BCEWithLogitsLoss()(scores, labels)  # expect: ML520


def classify():
    scores = torch.randn(16, 5)
    labels = torch.zeros(16, dtype=torch.long)
    return F.cross_entropy(scores, labels, weight=torch.ones(4))  # expect: ML520
