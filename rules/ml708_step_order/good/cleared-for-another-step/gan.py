import torch
from torch import nn


def play(maker: nn.Module, judge: nn.Module, loader):
    of_maker, of_judge = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
    for noise, images in loader:
        of_maker.zero_grad()
        judge(maker(noise)).mean().backward()
        of_judge.zero_grad()
        of_maker.step()
        (judge(images) - judge(maker(noise).detach())).mean().backward()
        of_judge.step()


def twice(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs in loader:
        inputs.requires_grad_()
        model(inputs).mean().backward()
        inputs = inputs + inputs.grad.sign()
        optimizer.zero_grad()
        model(inputs).mean().backward()
        optimizer.step()
