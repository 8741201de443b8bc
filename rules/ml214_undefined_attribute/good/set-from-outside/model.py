from torch import nn


class Block(nn.Module):
    def forward(self, x):
        return x * self.depth_scale


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        for index, block in enumerate(self.blocks):
            block.depth_scale = 1 / (index + 1)


class Head(nn.Module):
    def forward(self, x):
        return self.norm(x) * self.gain + self.shift
