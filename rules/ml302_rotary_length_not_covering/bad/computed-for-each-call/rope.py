import torch


def rope_table(length, dim, device):
    frequencies = 10000.0 ** -(torch.arange(0, dim, 2, device=device) / dim)
    angles = torch.outer(torch.arange(length, device=device), frequencies)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin, position_ids):
    cos, sin = cos[position_ids], sin[position_ids]
    return x * cos + x.flip(-1) * sin
