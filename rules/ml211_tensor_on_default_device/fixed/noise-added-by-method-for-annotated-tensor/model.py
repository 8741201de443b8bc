import torch
from torch import nn


class Quantizer(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.codes = nn.Parameter(torch.zeros(size, width))

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        noise = torch.rand(*x.shape, device=x.device)  # expect: ML211
        return ((x + noise) @ self.codes.T).argmax(-1)
