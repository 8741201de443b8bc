from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(3, 3)

    def forward(self, x):
        return self.proj(x)


def configure(net, **settings):
    for name, value in settings.items():
        setattr(net, name, value)


def first():
    net = Net()
    configure(net, rate=0.1)
    return net.rate


def second(settings):
    net = Net()
    vars(net).update(settings)
    return net.depth


class Wide(Net):
    width = 9


def third():
    net = Net()
    net.__class__ = Wide
    return net.width
