import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width, longest=512):
        super().__init__()
        self.longest = longest
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.table = nn.Embedding(longest + 1, width)

    def forward(self, x):
        if x.shape[1] > self.longest:
            raise ValueError(f"at most {self.longest} tokens")
        x = torch.cat((self.token.expand(len(x), -1, -1), x), dim=1)
        return x + self.table(torch.arange(x.shape[1], device=x.device))


class Wider(nn.Module):
    def __init__(self, width, longest=512):
        super().__init__()
        self.longest = longest
        self.table = nn.Embedding(longest, 2 * width)

    def forward(self, x, other):
        if x.shape[1] > self.longest:
            raise ValueError(f"at most {self.longest} tokens")
        x = torch.cat((other, x), dim=2)
        return x + self.table(torch.arange(x.shape[1], device=x.device))


class Padded(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = nn.Embedding(64, width)

    def forward(self, steps: int):
        return self.table(torch.arange(steps))


class Sixty(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.padded = Padded(width)

    def forward(self, x):
        return x + self.padded(60)
