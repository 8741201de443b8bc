import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self, is_classifier=False):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.is_classifier = is_classifier

    def forward(self, x):
        x = self.fc(x)
        if self.is_classifier:
            return F.softmax(x, dim=1)
        return x


def loss(x, y):
    return F.cross_entropy(Net()(x), y)
