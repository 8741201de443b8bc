import torch
from torch import nn


class Net(nn.Module):
    def _init_(self):  # expect: ML513
        super()._init_()
        self.fc = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor):
        return self.fc(x)
