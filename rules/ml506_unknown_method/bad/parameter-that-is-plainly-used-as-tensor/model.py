import torch


def gates(gate: torch.Tensor, batch, heads, chunk):
    chunks = gate.view(batch, heads, -1, chunk)
    return gate.logsigmoid(chunks)  # expect: ML506
