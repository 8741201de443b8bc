import torch


def angle(imag, real):
    return torch.atan2(imag, real)
