from torch import nn


def train(model: nn.Module, optimizer, loader):
    total, sums = 0.0, []
    for inputs in loader:
        optimizer.zero_grad()
        loss = model(inputs).mean()
        loss.backward()
        optimizer.step()
        loss = loss.item()
        total += loss
        sums.append(loss)
    return total / len(sums)


def later(model: nn.Module, optimizer, loader):
    total = 0.0
    for inputs in loader:
        optimizer.zero_grad()
        loss = model(inputs).mean()
        loss.backward()
        optimizer.step()
        total += loss
        total = total.item()
    return total
