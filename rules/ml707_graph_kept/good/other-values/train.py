from torch import nn


def train(model: nn.Module, optimizer, loader, rewards):
    seen, correct, scores, other = 0, 0, [], 0.0
    for number, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad()
        output = model(inputs)
        loss = nn.functional.cross_entropy(output, targets)
        loss.backward()
        optimizer.step()
        seen += len(inputs)
        correct += (output.argmax(1) == targets).sum()
        scores.append(number)
        other += rewards[number]
    return seen, correct, scores, other


def weigh(model: nn.Module, loader):
    total = 0.0
    for inputs in loader:
        loss = model(inputs).mean()
        total = total + loss
    return total
