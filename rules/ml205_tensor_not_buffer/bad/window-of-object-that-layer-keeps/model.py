import torch
from torch import nn


class Spectrum:
    def __init__(self, size):
        self.size = size
        self.window = torch.hann_window(size)  # expect: ML205

    def __call__(self, x):
        return torch.stft(x, self.size, window=self.window, return_complex=True).abs()


class SpectralLoss(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.spectrum = Spectrum(size)

    def forward(self, x, y):
        return (self.spectrum(x) - self.spectrum(y)).abs().mean()
