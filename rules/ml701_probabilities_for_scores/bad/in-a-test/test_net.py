import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x).softmax(1)


def test_learns():
    loss = nn.CrossEntropyLoss()(Net()(torch.randn(8, 4)), torch.randint(0, 2, (8,)))  # expect: ML701
    loss.backward()
