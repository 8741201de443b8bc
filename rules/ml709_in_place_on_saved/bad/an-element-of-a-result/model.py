from torch import nn


class Masked(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.act = nn.ReLU()

    def forward(self, x):
        hidden = self.act(self.proj(x))
        hidden[:, 0] = 0  # expect: ML709
        return hidden


class Flat(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        hidden = self.proj(x).exp()
        hidden.transpose(0, 1).add_(1)  # expect: ML709
        return hidden
