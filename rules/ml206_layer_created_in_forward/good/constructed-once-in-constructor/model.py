from torch import nn


class Encoder(nn.Module):
    def __init__(self, width, n_layers):
        super().__init__()
        self.layers = nn.ModuleList([self.make_layer(width) for _ in range(n_layers)])

    def make_layer(self, width):
        return nn.Linear(width, width)

    def resize(self, width):
        self.layers[0] = nn.Linear(width, width)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
