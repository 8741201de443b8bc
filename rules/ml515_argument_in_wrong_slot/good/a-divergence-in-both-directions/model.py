import torch


def between(imag, real):
    return torch.atan2(imag, real)


def both(imag: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    return between(imag, real) - between(real, imag)
