import torch
from torch import nn
from torch.nn import functional as F


class WeightedLoss:
    def __init__(self, classes):
        self.weight = torch.ones(classes)  # expect: ML205

    def compute(self, logits, target):
        return (F.cross_entropy(logits, target, reduction="none") * self.weight[target]).mean()

    def weighted(self, logits, target):
        return F.cross_entropy(logits, target, weight=self.weight)


class Net(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.lin = nn.Linear(width, classes)

    def forward(self, x):
        return self.lin(x)


def train(batches, device):
    model = Net(80, 10).to(device)
    criterion = WeightedLoss(10)
    for x, y in batches:
        criterion.weighted(model(x.to(device)), y.to(device)).backward()
