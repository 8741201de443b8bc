from torch import nn

from registry import BLOCKS, HEADS


@BLOCKS.register()
class Dense(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x)


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, 1)

    def forward(self, x):
        return self.lin(x)


HEADS.add("head", Head)


class Stack(nn.Module):
    def __init__(self, width, blocks=("Dense",), heads=("head",)):
        super().__init__()
        self.blocks = [BLOCKS.build(name, width) for name in blocks]  # expect: ML204
        self.heads = {name: HEADS.get(name)(width) for name in heads}  # expect: ML204

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return {name: head(x) for name, head in self.heads.items()}
