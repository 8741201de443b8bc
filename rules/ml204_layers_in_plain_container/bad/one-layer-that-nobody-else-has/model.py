from torch import nn


def make(width):
    return nn.Linear(width, width)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x).relu()


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = [nn.Linear(width, width)]  # expect: ML204
        second = nn.Linear(width, width)
        self.second = (second,)  # expect: ML204
        self.third = [make(width)]  # expect: ML204
        self.fourth = [Block(width)]  # expect: ML204

    def forward(self, x):
        x = self.second[0](self.first[0](x).relu()).relu()
        return self.fourth[0](self.third[0](x).relu())
