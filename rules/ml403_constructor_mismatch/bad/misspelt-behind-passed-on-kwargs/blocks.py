from torch import nn


class Block(nn.Module):
    def __init__(self, width: int, dropout: float = 0.1, bias: bool = True):
        super().__init__()


class WideBlock(Block):
    def __init__(self, factor: int = 2, **kwargs):
        stride = kwargs.pop("stride", 1)
        super().__init__(bias=False, **kwargs)


def deep_block(depth: int = 3, **options) -> Block:
    return WideBlock(**options)


def run(block: Block, other: Block, steps: int = 3):
    print(block, other, steps)
