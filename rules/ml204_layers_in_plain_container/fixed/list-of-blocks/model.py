from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return x + self.proj(self.norm(x))


class Encoder(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])  # expect: ML204

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
