from torch import nn


class Heads(nn.ModuleDict):
    def __init__(self, width):
        super().__init__({"box": nn.Linear(width, 4), "mask": nn.Linear(width, 1)})

    def forward(self, x):
        return self.box(x), self.masks(x)  # expect: ML214


class Block(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.Linear(width, width), nn.ReLU())
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.nrom(super().forward(x))  # expect: ML214


class Stack(nn.Sequential):
    def __init__(self, width, depth):
        super().__init__(*(nn.Linear(width, width) for _ in range(depth)))

    def forward(self, x):
        return self.scale * super().forward(x)  # expect: ML214


class Stages(nn.ModuleDict):
    def __init__(self, width):
        super().__init__()
        self["early"] = nn.Linear(width, width)
        self.update({"late": nn.Linear(width, width)})

    def forward(self, x):
        return self.last(self.early(x))  # expect: ML214


def built(width):
    return [Heads(width), Block(width), Stack(width, 2), Stages(width)]
