import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(F.relu(self.body(x)))


def train(loader):
    net, criterion = Net(), nn.BCELoss()
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in loader:
        loss = criterion(net(x).squeeze(1), y.float())  # expect: ML702
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
