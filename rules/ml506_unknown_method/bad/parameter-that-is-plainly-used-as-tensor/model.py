import torch


def gates(gate: torch.Tensor):
    chunks = gate.view(gate.shape[0], 1, -1)
    return gate.logsigmoid(chunks)  # expect: ML506
