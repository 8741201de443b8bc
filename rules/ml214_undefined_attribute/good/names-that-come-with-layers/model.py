from collections import OrderedDict

from torch import nn


class Heads(nn.ModuleDict):
    def __init__(self, heads, is_shared):
        super().__init__(heads)
        if is_shared:
            self.mask.trunk = self.box.trunk

    def forward(self, features):
        return self.mask(features, self.box(features))


def heads_of(config, box, mask):
    found = [("box", box)]
    if config.has_masks:
        found.append(("mask", mask))
    return Heads(found, config.is_shared)


class Stages(nn.ModuleDict):
    def __init__(self, stages, width):
        super().__init__()
        for name, depth in stages.items():
            self[name] = nn.Sequential(*(nn.Linear(width, width) for _ in range(depth)))

    def forward(self, x):
        return self.late(self.early(x))


class Filled(nn.ModuleDict):
    def fill(self, layers):
        self.update(layers)

    def forward(self, x):
        return self.proj(x)


class Net(nn.Sequential):
    def __init__(self, parts):
        super(Net, self).__init__(OrderedDict(parts))

    def forward(self, x):
        return self.head(self.stem(x))


class Tail(nn.Sequential):
    def forward(self, x):
        return self.norm(self.proj(x))


def tail(parts):
    return Tail(OrderedDict(parts))


class Scales(nn.ParameterDict):
    def __init__(self, scales):
        nn.ParameterDict.__init__(self, scales)

    def forward(self, x):
        return x * self.gain
