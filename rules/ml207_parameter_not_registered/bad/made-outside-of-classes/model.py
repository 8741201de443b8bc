import torch
from torch import nn

projection = nn.Linear(8, 8)  # expect: ML207
scale = nn.Parameter(torch.ones(8))  # expect: ML207


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(projection(x))


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x):
        return self.net(x * scale)


def train(batches):
    net = Scaled()
    optimizer = torch.optim.Adam(net.parameters())
    for batch in batches:
        optimizer.zero_grad()
        net(batch).mean().backward()
        optimizer.step()
