from torch import nn

from registry import MODELS


@MODELS.register_module()
class Trunk(nn.Module):
    def __init__(self, depth, width=64):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@MODELS.register_module(name=["LinearHead", "FlatHead"])
class Head(nn.Module):
    def __init__(self, width, outputs):
        super().__init__()
        self.out = nn.Linear(width, outputs)

    def forward(self, x):
        return self.out(x)


@MODELS.register_module()
class Net(nn.Module):
    def __init__(self, trunk, head, test_cfg=None):
        super().__init__()
        self.trunk = MODELS.build(trunk)
        self.head = MODELS.build(head)
        self.test_cfg = test_cfg

    def forward(self, x):
        return self.head(self.trunk(x))
