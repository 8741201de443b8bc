import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


def fit(loader, held_out, goal):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.train()
    for epoch in range(50):
        total = 0.0
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(inputs), labels)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if total < goal:
            net.eval()
            break
        print(epoch, total)
    net.eval()
    with torch.no_grad():
        return net(held_out)


def fit_until(loader, held_out, goal):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(inputs), labels)
        loss.backward()
        optimizer.step()
        if loss < goal:
            net.eval()
            return net(held_out)
