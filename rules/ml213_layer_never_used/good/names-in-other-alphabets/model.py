from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.слой = nn.Linear(3, 4)
        self.层 = nn.Linear(3, 4)

    def forward(self, x):
        return self.层(x)


def use(block: Block, x):
    return block.слой(x)
