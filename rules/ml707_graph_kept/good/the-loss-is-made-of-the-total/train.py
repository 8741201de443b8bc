from torch import nn


def train(model: nn.Module, optimizer, parts):
    total = 0.0
    for part in parts:
        optimizer.zero_grad()
        total = total + model(part).mean()
        total.backward(retain_graph=True)
        optimizer.step()


def smooth(model: nn.Module, optimizer, parts):
    before = 0.0
    for part in parts:
        loss = model(part).mean()
        cost = loss + 0.1 * before
        cost.backward()
        before = before * 0.9 + loss.detach()
        optimizer.step()
