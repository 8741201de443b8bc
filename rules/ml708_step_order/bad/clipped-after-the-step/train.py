import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


def train(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs in loader:
        optimizer.zero_grad()
        loss = model(inputs).mean()
        loss.backward()
        optimizer.step()
        clip_grad_norm_(model.parameters(), 0.5)  # expect: ML708


def one_step(model: nn.Module, optimizer: torch.optim.Optimizer, inputs):
    model(inputs).mean().backward()
    optimizer.step()
    nn.utils.clip_grad_value_(model.parameters(), 0.5)  # expect: ML708
    optimizer.zero_grad()
