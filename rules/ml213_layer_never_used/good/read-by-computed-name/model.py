from torch import nn


class Named(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj_a = nn.Linear(width, width)
        self.proj_b = nn.Linear(width, width)

    def forward(self, x, which):
        return getattr(self, f"proj_{which}")(x)


class Chained(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        for layer in self.children():
            x = layer(x)
        return x


class Evaluated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, code):
        return eval(code)
