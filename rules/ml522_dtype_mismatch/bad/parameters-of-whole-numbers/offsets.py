import torch
from torch import nn


class Offsets(nn.Module):
    def __init__(self, count: int):
        super().__init__()
        self.steps = nn.Parameter(torch.tensor([1, 2, 4]))  # expect: ML522
        self.scale = nn.Parameter(torch.ones(count, dtype=torch.int64))  # expect: ML522

    def forward(self, x):
        return x[..., self.steps] * self.scale


def slope() -> torch.Tensor:
    x = torch.tensor([1, 2, 3], requires_grad=True)  # expect: ML522
    return (x**2).sum()
