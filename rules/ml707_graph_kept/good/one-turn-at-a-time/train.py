from torch import nn


def train(model: nn.Module, optimizer, loader):
    for inputs in loader:
        optimizer.zero_grad()
        loss = model(inputs).mean()
        loss += model(inputs * 2).mean()
        loss.backward()
        optimizer.step()
        shown = loss
    return shown


def few(model: nn.Module, optimizer, images):
    total = 0.0
    for scale in (1, 2, 4):
        loss = model(images[:, ::scale]).mean()
        loss.backward()
        total += loss
    optimizer.step()
    return total
