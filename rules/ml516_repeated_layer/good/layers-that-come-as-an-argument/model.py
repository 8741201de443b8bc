from torch import nn


class Parallel(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList([layer for layer in layers])

    def forward(self, x):
        return [layer(x) for layer in self.layers]
