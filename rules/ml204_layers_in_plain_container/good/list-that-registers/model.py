from torch import nn


class Body(nn.Sequential):
    def __init__(self, width):
        layers = [nn.LayerNorm(width)]
        layers.append(nn.Linear(width, width))
        super().__init__(*layers)


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        layers = nn.ModuleList()
        for _ in range(depth):
            layers.append(Body(width))
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
