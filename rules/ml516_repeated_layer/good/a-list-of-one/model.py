from torch import nn


class Single(nn.Module):
    def __init__(self, width):
        super().__init__()
        layer = nn.Linear(width, width)
        self.layers = nn.ModuleList([layer] * 1)
        self.more = nn.ModuleList([layer])
        for other in (nn.Linear(width, 2), nn.Linear(width, 3)):
            self.more.append(other)

    def forward(self, x):
        return self.more[1](self.layers[0](self.more[0](x)))
