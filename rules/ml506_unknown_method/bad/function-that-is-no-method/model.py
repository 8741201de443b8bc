import torch


def gates(x, size: int):
    gate = torch.zeros(size)
    for step in range(3):
        gate = gate + torch.relu(x[step]) * 0.5
    return gate.logsigmoid()  # expect: ML506
