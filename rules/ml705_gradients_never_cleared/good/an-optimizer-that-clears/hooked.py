import torch
from torch import nn


def train(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.register_step_post_hook(lambda solver, *_: solver.zero_grad())
    for inputs in loader:
        model(inputs).mean().backward()
        optimizer.step()
