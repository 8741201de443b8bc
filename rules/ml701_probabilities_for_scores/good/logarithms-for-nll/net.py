import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return torch.softmax(self.fc(x), dim=1)


def loss(x, y):
    return nn.NLLLoss()(torch.log(Net()(x)), y)
