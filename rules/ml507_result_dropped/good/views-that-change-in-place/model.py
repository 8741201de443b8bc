import torch


def run(x, mask, number, rows):
    x[0].fill_(0)
    x[number > 0, 1:].squeeze_()
    x[1:, ..., None].mul_(2)
    x[rows].zero_()
    x[mask] = 0
    kept = x[x > 0]
    kept.clamp_(max=1)
    x[x < 0].add_(1).sum().backward()
    y = x[torch.isnan(x)].fill_(0)
    return x, y, kept
