import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(F.relu(self.body(x)))


def step(net: Net, x, y):
    with torch.no_grad():
        scores = net(x)
    loss = F.cross_entropy(scores, y)
    loss.backward()  # expect: ML704


def of_any(model, criterion, x, y):
    with torch.inference_mode():
        loss = criterion(model(x), y)
    loss.backward()  # expect: ML704
