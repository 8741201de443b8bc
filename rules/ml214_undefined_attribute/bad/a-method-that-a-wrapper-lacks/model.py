import torch
from torch import nn


class Coder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.config = {"width": width}
        self.proj = nn.Linear(width, width)

    def encode(self, x):
        return self.proj(x)

    def forward(self, x):
        return self.encode(x).relu()


def codes(x):
    model = Coder(4).to(x.device)
    model = nn.DataParallel(model)
    print(model.config)  # expect: ML214
    return model.encode(x)  # expect: ML214


codes(torch.rand(2, 4))
