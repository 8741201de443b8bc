import torch
from torch import nn


def fit(net: nn.Module, batches, epochs):
    solver = torch.optim.Adam(net.parameters())
    for _ in range(epochs):
        net.train()
        solver.zero_grad()
        for batch in batches:
            cost = net(batch).square().mean()
            cost.backward()
            print(cost.item())
            solver.step()  # expect: ML705
