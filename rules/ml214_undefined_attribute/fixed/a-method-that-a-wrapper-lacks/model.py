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
    return model.module.encode(x)  # expect: ML214


def width():
    model = nn.DataParallel(Coder(4))
    return model.module.config["width"]  # expect: ML214


if __name__ == "__main__":
    print(width(), codes(torch.rand(2, 4)))
