from torch import nn


class Lazy(nn.Module):
    def __init__(self, width):
        self.prepare()
        self.embed = nn.Linear(width, width)
        super(Lazy, self).extra_repr()

    def prepare(self):
        nn.Module.__init__(self)

    def forward(self, x):
        return self.embed(x)


class Ready(nn.Module):
    def __new__(cls, *args):
        made = super().__new__(cls)
        nn.Module.__init__(made)
        return made

    def __init__(self, width):
        self.embed = nn.Linear(width, width)
        super().__init__()

    def forward(self, x):
        return self.embed(x)
