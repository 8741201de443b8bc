from torch import nn


def first(batches):
    loss = nn.MSELoss()
    for x, y in batches:
        loss = loss(x, y)
        break
    return loss


def best(batches):
    loss = nn.MSELoss()
    for x, y in batches:
        loss = loss(x, y)
        return loss
