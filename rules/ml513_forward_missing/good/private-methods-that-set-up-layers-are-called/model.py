import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self._init()
        self.__init()

    def _init(self):
        self.first = nn.Linear(4, 4)

    def __init(self):
        self.second = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor):
        return self.second(self.first(x))


class Later(nn.Module):
    def init(self):
        self.fc = nn.Linear(4, 4)
        return self

    def forward(self, x):
        return self.fc(x)
