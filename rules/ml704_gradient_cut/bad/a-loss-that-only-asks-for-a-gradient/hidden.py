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


def hidden(net: Net, loader):
    for x, y in loader:
        best = torch.argmax(net(x), dim=1).type(torch.float32)
        loss = F.cross_entropy(best, y)
        loss.requires_grad = True
        loss.backward()  # expect: ML704


def through_numpy(net: Net, loader):
    for x, y in loader:
        chances = torch.sigmoid(net(x)).detach().cpu().numpy()
        loss = F.binary_cross_entropy(torch.from_numpy(chances), y)
        loss.backward()  # expect: ML704
