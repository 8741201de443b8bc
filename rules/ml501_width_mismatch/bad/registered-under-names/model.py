from torch import nn


class Added(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("inner", nn.Linear(40, 10))
        self.register_module("outer", nn.Linear(20, 30))

    def forward(self, x):
        return self.outer(self.inner(x))  # expect: ML501


class Stored(nn.Module):
    def __init__(self):
        super().__init__()
        setattr(self, "narrow", nn.Linear(40, 10))
        setattr(self, "wide", nn.Linear(20, 30))

    def forward(self, x):
        return self.wide(self.narrow(x))  # expect: ML501


class Local(nn.Module):
    def __init__(self):
        super().__init__()
        net = nn.Sequential()
        net.add_module("one", nn.Linear(40, 10))
        net.add_module("other", nn.Linear(20, 30))  # expect: ML501
        self.net = net

    def forward(self, x):
        return self.net(x)


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 40)
        self.net = nn.Sequential(nn.ReLU())
        self.net.append(nn.Linear(40, 10))
        self.head = nn.Linear(40, 20)

    def forward(self, x):
        return self.head(self.net(self.first(x)))  # expect: ML501
