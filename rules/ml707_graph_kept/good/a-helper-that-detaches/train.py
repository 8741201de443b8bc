from torch import nn


def improve(model, optimizer, inputs):
    optimizer.zero_grad()
    loss = model(inputs).mean()
    loss.backward()
    optimizer.step()
    return loss.detach(), len(inputs), loss.item()


def train(model: nn.Module, optimizer, loader):
    total, count, other = 0.0, 0, 0.0
    for inputs in loader:
        loss, number, value = improve(model, optimizer, inputs)
        total += loss
        count += number
        other += value
    return total / count, other
