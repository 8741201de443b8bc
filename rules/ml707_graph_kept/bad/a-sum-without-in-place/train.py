from torch import nn


def train(model: nn.Module, criterion, optimizer, loader):
    running = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        running = running + loss * inputs.shape[0]  # expect: ML707
    return running


def accumulate(model: nn.Module, criterion, optimizer, loader, every):
    total = 0.0
    for number, (inputs, targets) in enumerate(loader):
        loss = criterion(model(inputs), targets)
        (loss / every).backward()
        if (number + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
        total += loss / len(loader)  # expect: ML707
    print(f"mean {total:.3f}")
