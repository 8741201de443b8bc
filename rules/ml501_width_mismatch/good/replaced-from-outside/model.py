from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 3)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(64, 1000)
        self.out = nn.Linear(64, 5)

    def forward(self, x):
        x = self.pool(self.conv(x)).flatten(1)
        return self.out(self.fc(x))


def features():
    net = Backbone()
    net.fc = nn.Identity()
    net.out = nn.Linear(64, 2)
    return net
