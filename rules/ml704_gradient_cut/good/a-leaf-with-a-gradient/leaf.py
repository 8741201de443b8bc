import torch


def slope(at):
    x = torch.tensor(2.0, requires_grad=True)
    y = x**2
    y.backward()
    return x.grad, at
