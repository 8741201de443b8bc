import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        y = self.fc(x)
        return y.sum(), y


def train():
    model = Model()
    loss = model(torch.randn(4, 8))
    loss.backward()  # expect: ML510


train()
