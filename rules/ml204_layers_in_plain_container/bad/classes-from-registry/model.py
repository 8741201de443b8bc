from torch import nn

from blocks import BLOCKS


class Stack(nn.Module):
    def __init__(self, width, names=("dense", "conv")):
        super().__init__()
        self.blocks = [BLOCKS[name](width) for name in names]  # expect: ML204

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
