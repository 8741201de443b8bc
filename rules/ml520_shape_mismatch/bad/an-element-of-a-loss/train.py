import torch
from torch import nn, optim

model = nn.Linear(20, 4)
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=0.1)


def step(inputs, targets):
    optimizer.zero_grad()
    loss = criterion(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.data[0]  # expect: ML520


def evaluate(batches):
    total = 0.0
    for inputs, targets in batches:
        total += nn.functional.mse_loss(inputs, targets)[0]  # expect: ML520
    return total
