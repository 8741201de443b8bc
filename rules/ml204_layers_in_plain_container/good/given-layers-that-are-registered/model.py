from typing import Dict, List

from torch import nn


class Stack(nn.Module):
    def __init__(self, layers: List[nn.Module], acts: List[nn.ReLU], heads: Dict[str, nn.Module]):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.acts = acts
        self.heads = nn.ModuleDict(heads)

    def forward(self, x):
        for layer, act in zip(self.layers, self.acts):
            x = act(layer(x))
        return {name: head(x) for name, head in self.heads.items()}


class Blocks(nn.Module):
    def __init__(self, blocks: List[nn.Module]):
        super().__init__()
        self.blocks = blocks

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def model(width):
    return Blocks(nn.ModuleList([nn.Linear(width, width), nn.Linear(width, width)]))
