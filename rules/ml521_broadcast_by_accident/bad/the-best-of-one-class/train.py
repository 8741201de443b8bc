import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))

    def predict(self, x):
        _, predicted = torch.max(self.body(x.view(-1, 16)), 1)  # expect: ML521
        return predicted


def accuracy(features, labels):
    model = Detector()
    scores = model.body(features.view(-1, 16))
    hits = scores.max(dim=1)[1] == labels  # expect: ML521
    return hits.float().mean()
