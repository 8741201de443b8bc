from functools import partial

from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.kinds = [nn.Linear, nn.Conv1d]
        self.makers = {"norm": partial(nn.LayerNorm, width), "act": lambda: nn.PReLU()}
        self.sizes = (width, width * 2)
        self.layers = nn.ModuleList(kind(width, width, 1) for kind in self.kinds)

    def forward(self, x):
        for layer, size in zip(self.layers, self.sizes):
            x = layer(x[..., :size])
        return x, [kind.__name__ for kind in self.kinds], list(self.makers)
