import torch


def best(x: torch.Tensor):
    found = torch.topk(torch.relu(x), 3)
    return found.values.sum(), found.indices.view(-1)
