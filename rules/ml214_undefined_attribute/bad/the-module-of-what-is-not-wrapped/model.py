import torch
from torch import nn


class Coder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x)


def save(path):
    model = Coder(4)
    torch.save(model.module.state_dict(), path)  # expect: ML214


def compiled(x):
    model = torch.compile(Coder(4))
    return model.encode(x)  # expect: ML214
