import torch


def swap(ft):
    torch.transpose(ft, 1, 0)  # expect: ML507
    return ft
