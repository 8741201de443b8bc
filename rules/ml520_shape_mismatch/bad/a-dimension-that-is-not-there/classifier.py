import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(16, 10)

    def forward(self, images):
        scores = self.head(self.features(images))
        return torch.log_softmax(scores, dim=2)  # expect: ML520

    def summary(self, images):
        return self.features(images).mean([2, 3])  # expect: ML520


def lengths():
    ids = torch.zeros(4, 12, dtype=torch.long)
    return ids.ne(0).sum(dim=2)  # expect: ML520


def columns():
    table = torch.rand(6)
    return table.size(1)  # expect: ML520
