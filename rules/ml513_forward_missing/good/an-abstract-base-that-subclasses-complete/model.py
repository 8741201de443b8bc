import torch
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def run(self, x):
        return self(x)


class Gated(Base):
    def forward(self, x):
        return torch.sigmoid(self.fc(x)) * x


def run():
    return Gated()(torch.rand(2, 4))
