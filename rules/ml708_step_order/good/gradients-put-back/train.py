import torch
from torch import nn


def by_hand(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs in loader:
        model(inputs).mean().backward()
        kept = [weight.grad.clone() for weight in model.parameters()]
        optimizer.zero_grad()
        for weight, grad in zip(model.parameters(), kept):
            weight.grad = grad.clamp(-1, 1)
        optimizer.step()


def by_code_out_of_sight(model: nn.Module, loader, mix):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs in loader:
        model(inputs).mean().backward()
        optimizer.zero_grad()
        mix(model)
        optimizer.step()


def with_closure(model: nn.Module, loader):
    optimizer = torch.optim.LBFGS(model.parameters())
    for inputs in loader:

        def closure():
            optimizer.zero_grad()
            loss = model(inputs).mean()
            loss.backward()
            return loss

        model(inputs).mean().backward()
        optimizer.zero_grad()
        optimizer.step(closure)
