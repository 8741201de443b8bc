from torch import nn


class Head(nn.Module):
    def __init__(self, width, depth, compiled=False):
        super().__init__()
        layers = []
        for _ in range(depth):
            layers.append(nn.Linear(width, width))
        if compiled:
            self.layers = nn.ModuleList(layers)
        else:
            self.layers = layers  # expect: ML204

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
