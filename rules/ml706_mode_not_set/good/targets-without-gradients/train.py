import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


def fit(loader):
    net, teacher = Net(), Net()
    teacher.load_state_dict(net.state_dict())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for inputs in loader:
        with torch.no_grad():
            wanted = teacher(inputs)
            before = net(inputs)
        optimizer.zero_grad()
        ((net(inputs) - wanted) ** 2 + before * 0.1).mean().backward()
        optimizer.step()


def play(world):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(100):
        seen = []
        with torch.no_grad():
            for state in world:
                seen.append((state, net(state)))
        for state, before in seen:
            optimizer.zero_grad()
            (net(state) - before).abs().mean().backward()
            optimizer.step()
