from torch import nn


class Appended(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 40)
        self.net = nn.Sequential()
        self.net.append(nn.Linear(40, 80))
        self.head = nn.Linear(80, 2)

    def forward(self, x):
        return self.head(self.net(self.first(x)))


class Added(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 40)
        net = nn.Sequential()
        net.add_module("inner", nn.Linear(40, 80))
        self.net = net
        self.head = nn.Linear(80, 2)

    def forward(self, x):
        return self.head(self.net(self.first(x)))


class Later(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.first = nn.Linear(3, 40)
        self.net = nn.Sequential()
        self.other = nn.Sequential()
        for number in range(depth):
            self.other.add_module(f"layer{number}", nn.Linear(40 + number, 41 + number))
        self.head = nn.Linear(80, 2)
        self.build()

    def build(self):
        self.net.add_module("inner", nn.Linear(40, 80))

    def forward(self, x):
        x = self.first(x)
        return self.head(self.net(x)) + self.head(self.other(x))
