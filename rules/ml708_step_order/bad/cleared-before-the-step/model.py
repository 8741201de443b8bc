import torch
from torch import nn

net = nn.Linear(4, 1)
solver = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(10):
    cost = net(torch.rand(2, 4)).square().mean()
    cost.backward()
    net.zero_grad()  # expect: ML708
    solver.step()
