from torch import nn

import hooks


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        self.late = nn.Linear(width, width)

    def forward(self, x):
        return hooks.attend(self, x)


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = Block(width)

    def forward(self, x):
        return self.block(x) * self.block.gate(x)
