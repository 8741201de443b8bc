from torch import nn


class Mlp(nn.Module):
    def __init__(self, inside, hidden=64):
        super().__init__()
        layers = [nn.Linear(inside, hidden), nn.ReLU()]
        layers.append(nn.Linear(hidden, 3 * hidden))
        layers += [nn.GELU(), nn.Linear(hidden, 1)]  # expect: ML501
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)
