import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.proj = nn.Linear(dim, dim)
        self.position = nn.Parameter(torch.zeros(size, dim))

    def log_size(self, size: int) -> None:
        self.last_size = size

    def forward(self, x: torch.Tensor, probing: bool = False) -> torch.Tensor:
        size = x.shape[1]
        if probing:
            result = self.log_size(size)
        else:
            if size != self.size:
                raise ValueError(f"{size} is not {self.size}")
            result = x + self.position
        if result is None:
            return x
        return torch.relu(self.proj(result))
