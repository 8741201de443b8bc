import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)  # expect: ML506

    def forward(self, x):
        return self.fc(x)


def probabilities():
    return F.softmax(torch.rand(2, 3), dim=-1)  # expect: ML506


@torch.no_grad()  # expect: ML506
def evaluate(model, x):
    return model(x)
