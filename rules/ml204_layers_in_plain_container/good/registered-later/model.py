from torch import nn


class Encoder(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.wrapped = [nn.Linear(width, width) for _ in range(depth)]
        self.wrapped = nn.ModuleList(self.wrapped)
        self.unpacked = [nn.Linear(width, width), nn.ReLU()]
        self.body = nn.Sequential(*self.unpacked)
        self.named = []
        self.added = {}
        for i in range(depth):
            layer = nn.Linear(width, width)
            self.named.append(layer)
            setattr(self, f"layer{i}", layer)
            self.added[i] = nn.Linear(width, width)
            self.add_module(f"added{i}", self.added[i])

    def forward(self, x):
        for a, b, c in zip(self.wrapped, self.named, self.added.values()):
            x = c(b(a(x)))
        for layer in self.unpacked:
            x = layer(x)
        return x
