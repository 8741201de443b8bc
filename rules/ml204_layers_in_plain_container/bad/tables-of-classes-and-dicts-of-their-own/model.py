from torch import nn

from registry import HEADS, Factory


class Block(nn.Module):
    known = {}

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Block.known[cls.__name__] = cls


class Dense(Block):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x)


@Factory.register("norm")
class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x)


@HEADS.register("head")
class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, 1)

    def forward(self, x):
        return self.lin(x)


class Stack(nn.Module):
    def __init__(self, width, blocks=("Dense",), norms=("norm",), heads=("head",)):
        super().__init__()
        self.blocks = [Block.known[name](width) for name in blocks]  # expect: ML204
        self.norms = [Factory.create(name, width=width) for name in norms]  # expect: ML204
        self.heads = {name: HEADS[name](width) for name in heads}  # expect: ML204

    def forward(self, x):
        for block, norm in zip(self.blocks, self.norms):
            x = norm(block(x))
        return {name: head(x) for name, head in self.heads.items()}
