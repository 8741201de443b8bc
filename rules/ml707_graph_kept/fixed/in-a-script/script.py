import torch
from torch import nn

net = nn.Linear(4, 1)
solver = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0
for number in range(1000):
    solver.zero_grad()
    cost = net(torch.rand(8, 4)).square().mean()
    cost.backward()
    solver.step()
    if number > 100:
        total = cost.item() + total  # expect: ML707
print(float(total))
