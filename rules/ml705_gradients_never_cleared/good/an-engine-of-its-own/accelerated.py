import torch
from accelerate import Accelerator
from torch import nn


def train(model: nn.Module, loader):
    accelerator = Accelerator()
    optimizer = torch.optim.Adam(model.parameters())
    model, optimizer = accelerator.prepare(model, optimizer)
    for inputs in loader:
        accelerator.backward(model(inputs).mean())
        optimizer.step()
