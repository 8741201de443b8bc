import torch
from phase import angle


def phase_of(x: torch.Tensor) -> torch.Tensor:
    spectrum = torch.fft.fft(x)
    return angle(spectrum.imag, spectrum.real)  # expect: ML515
