import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.MSELoss()


def step():
    x = torch.randn(32, 8)
    y = torch.randn(32)
    loss = criterion(net(x), y)  # expect: ML521
    loss.backward()
