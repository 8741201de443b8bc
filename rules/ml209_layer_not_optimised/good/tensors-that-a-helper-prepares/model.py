import torch
from helpers import track


def fit(loss, options):
    weight = torch.zeros(3)
    track(weight)
    bias = torch.zeros(3, **options)
    first = torch.optim.SGD([weight], lr=0.1)
    second = torch.optim.SGD([bias], lr=0.1)
    third = torch.optim.SGD([torch.nn.Parameter(torch.zeros(3))], lr=0.1)
    loss(weight, bias).backward()
    for optimizer in (first, second, third):
        optimizer.step()
        optimizer.zero_grad()
