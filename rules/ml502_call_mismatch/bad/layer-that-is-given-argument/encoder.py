from torch import nn


class Encoder(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x)
        return x
