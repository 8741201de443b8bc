import torch


def packed(query, key, value):
    return torch.cat([query, key, value]).contiguous()  # expect: ML506
