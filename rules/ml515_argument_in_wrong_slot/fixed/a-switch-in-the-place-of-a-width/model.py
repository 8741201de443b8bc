from torch import nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, middle=None, bias=True):
        super().__init__()
        self.first = nn.Linear(inputs, middle or outputs, bias=bias)
        self.second = nn.Linear(middle or outputs, outputs, bias=bias)

    def forward(self, x):
        return self.second(self.first(x).relu())


class Net(nn.Module):
    def __init__(self, width: int = 8, bias: bool = True):
        super().__init__()
        self.block = Block(4, width, bias=bias)  # expect: ML515

    def forward(self, x):
        return self.block(x)
