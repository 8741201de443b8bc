import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return F.log_softmax(self.fc(x), dim=1)


def loss(x, y):
    return nn.CrossEntropyLoss()(Net()(x), y)
