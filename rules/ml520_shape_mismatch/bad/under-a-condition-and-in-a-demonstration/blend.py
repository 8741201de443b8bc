import torch
from torch import nn


class Blend(nn.Module):
    def __init__(self, is_gated):
        super().__init__()
        self.is_gated = is_gated
        self.left = nn.Linear(32, 24)
        self.right = nn.Linear(32, 16)

    def forward(self, x):
        left, right = self.left(x), self.right(x)
        if self.is_gated:
            left = left * torch.sigmoid(right)  # expect: ML520
        return left


if __name__ == "__main__":
    output = Blend(False)(torch.randn(2, 32))
    print(output - torch.zeros(2, 32))  # expect: ML520
