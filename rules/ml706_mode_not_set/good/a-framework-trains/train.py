import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


from accelerate import Accelerator
from lightning import Trainer


def fit(loader, held_out):
    accelerator = Accelerator()
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    for inputs, labels in loader:
        accelerator.backward(nn.functional.cross_entropy(net(inputs), labels))
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        return [net(inputs) for inputs in held_out]


def fit_otherwise(path, loader, held_out):
    net = Net()
    net.load_state_dict(torch.load(path))
    Trainer().test(net, loader)
    with torch.no_grad():
        return [net(inputs) for inputs in held_out]
