import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x)


class Ensemble(nn.Module):
    def __init__(self, models):
        super().__init__()
        self.models = models

    def forward(self, x):
        return torch.stack([model(x) for model in self.models]).mean(0)


def load(paths, width, device):
    nets = []
    for path in paths:
        net = Net(width).to(device)
        net.load_state_dict(torch.load(path))
        nets.append(net.eval())
    return Ensemble(nets)
