import torch
from torch import nn


def run(loader, rounds):
    net = nn.Linear(3, 1)
    solver = torch.optim.SGD(net.parameters(), lr=0.1)

    def one_round():
        for inputs in loader:
            cost = net(inputs).abs().mean()
            cost.backward()
            solver.step()  # expect: ML705

    for _ in range(rounds):
        solver.zero_grad()
        one_round()
