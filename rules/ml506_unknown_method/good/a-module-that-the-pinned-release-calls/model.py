import torch
from torch import fft, nn


def spectrum(x):
    return torch.fft(x, 2), fft(x, 2)


def newer(x):
    if hasattr(torch.fft, "fft"):
        return torch.fft.fft(x)
    return torch.fft(x, 1)


class Own(nn.Module):
    def __init__(self, optim):
        super().__init__()
        self.optim = optim

    def forward(self, x):
        return self.optim(x)
