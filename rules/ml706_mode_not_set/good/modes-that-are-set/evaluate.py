import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


def restored(path):
    net = Net()
    net.load_state_dict(torch.load(path))
    return net.eval()


def quiet(net):
    net.train(False)


class Tester:
    def __init__(self, path):
        self.net = Net()
        self.net.load_state_dict(torch.load(path))
        self.net.eval()

    def test(self, inputs):
        with torch.no_grad():
            return self.net(inputs)


def test(path, inputs):
    return Tester(path).test(inputs)


@torch.no_grad()
def main(path, inputs):
    first = restored(path)
    second = Net()
    second.load_state_dict(torch.load(path))
    quiet(second)
    return first(inputs) - second(inputs)
