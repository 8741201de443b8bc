import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(torch.zeros(4))
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)

    def forward(self, x):
        return self.second(self.first(x + self.token).relu())


def fit():
    net = Net()
    optimizer = torch.optim.Adam([*net.first.parameters(), *net.second.parameters(), net.token])
    for x in torch.rand(10, 2, 4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


def fit_by_name():
    net = Net()
    weights = [p for name, p in net.named_parameters() if name != "token" and "weight" in name]
    biases = [p for name, p in net.named_parameters() if name != "token" and "bias" in name]
    optimizer = torch.optim.Adam([{"params": weights}, {"params": biases, "weight_decay": 0.0}])
    for x in torch.rand(10, 2, 4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
