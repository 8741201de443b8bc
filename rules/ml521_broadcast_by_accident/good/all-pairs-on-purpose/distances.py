import torch


def energy(x):
    n, _ = x.shape
    scores = x.sum(dim=1)
    inner = (scores[:, None] - scores).abs().mean()
    return inner + ((scores - scores.unsqueeze(1)) ** 2).mean() + (scores.view(-1, 1) - scores).pow(2).sum()


def table(x):
    n, _ = x.shape
    rows = x.sum(dim=1, keepdim=True)
    offsets = rows - torch.arange(n)
    return torch.exp(-offsets), x - rows, x - x.mean(dim=1, keepdim=True)
