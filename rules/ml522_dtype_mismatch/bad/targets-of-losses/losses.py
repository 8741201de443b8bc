import torch
import torch.nn.functional as F
from torch import nn

criterion = nn.CrossEntropyLoss()


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.loss = nn.BCEWithLogitsLoss()

    def forward(self, x):
        scores = self.fc(x.view(-1, 4))
        labels = torch.tensor([0.0, 2.0, 1.0])
        return F.cross_entropy(scores, labels)  # expect: ML522

    def hits(self, x):
        scores = self.fc(x)
        return self.loss(scores, torch.ones_like(scores, dtype=torch.long))  # expect: ML522


def discriminate(scores):
    probabilities = torch.sigmoid(torch.randn(8))
    real = torch.tensor([1, 1, 1, 1, 0, 0, 0, 0])
    return nn.BCELoss()(probabilities, real)  # expect: ML522


def likelihood():
    logs = F.log_softmax(torch.randn(5, 3), dim=1)
    return F.nll_loss(logs, torch.zeros(5))  # expect: ML522


def distance(labels):
    classes = torch.randn(4, 3).argmax(dim=1)
    return F.mse_loss(classes, torch.zeros(4).long())  # expect: ML522


def smooth():
    return nn.SmoothL1Loss()(torch.tensor([1, 2]), torch.tensor([2, 5]))  # expect: ML522
