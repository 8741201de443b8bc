from torch import nn


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 16), nn.Linear(16, 32)])
        self.sides = nn.ModuleList([nn.Linear(8, 16), nn.Linear(16, 32)])

    def forward(self, x):
        for layer, side in zip(self.layers, self.sides):

            def run(y):
                return layer(y)

            def beside():
                return side(x)

            x = run(x) + beside()
        return x


class Saving(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 16), nn.Linear(16, 32)])
        self.head = nn.Linear(32, 2)

    def forward(self, x):
        for layer in self.layers:
            step = lambda: layer(x)
            x = step()
        return self.head(x)
