import torch
from torch import nn


def both(left: nn.Module, right: nn.Module, loader):
    solvers = [torch.optim.Adam(left.parameters()), torch.optim.Adam(right.parameters())]
    for inputs in loader:
        for solver in solvers:
            solver.zero_grad()
        (left(inputs) - right(inputs)).square().mean().backward()
        for solver in solvers:
            solver.step()


def in_phases(loader):
    net = nn.Linear(3, 1)
    warm = torch.optim.SGD(net.parameters(), lr=0.1)
    main = torch.optim.Adam(net.parameters())
    for number, inputs in enumerate(loader):
        main.zero_grad()
        net(inputs).mean().backward()
        if number < 100:
            warm.step()
        else:
            main.step()


def part_of_it(loader):
    body = nn.Linear(3, 3)
    head = nn.Sequential(body, nn.Linear(3, 1))
    of_body = torch.optim.SGD(body.parameters(), lr=0.1)
    for inputs in loader:
        head.zero_grad()
        head(inputs).mean().backward()
        of_body.step()
