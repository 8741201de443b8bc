from torch import nn


class Albert(nn.Module):
    """One layer, applied several times: its weights are shared."""

    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width)] * depth)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Heads(nn.Module):
    def __init__(self, width, depth, share_heads):
        super().__init__()
        head = nn.Linear(width, 2)
        if share_heads:
            self.heads = nn.ModuleList([head for _ in range(depth)])
        else:
            self.heads = nn.ModuleList([nn.Linear(width, 2) for _ in range(depth)])

    def forward(self, x):
        return [head(x) for head in self.heads]
