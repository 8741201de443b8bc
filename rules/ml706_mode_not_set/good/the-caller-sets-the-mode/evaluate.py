import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


from elsewhere import prepare


def accuracy(model, loader):
    with torch.no_grad():
        return sum((model(x).argmax(-1) == y).sum().item() for x, y in loader)


def main(path, loader):
    net = Net()
    net.load_state_dict(torch.load(path))
    prepare(net)
    print(accuracy(net, loader))
