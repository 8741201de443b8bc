from torch import nn


class Block(nn.Module):
    def __init__(self, width, rows=None):
        super().__init__()
        self.is_discrete = rows is not None
        if self.is_discrete:
            self.embed = nn.Embedding(rows, width)
        else:
            self.project = nn.Linear(width, width)

    def forward(self, x):
        if not self.is_discrete:
            return self.project(x)
        return self.embed(x)


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.front = nn.Conv1d(1, width, 3)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))

    def forward(self, x):
        x = self.front(x)
        for block in self.blocks:
            x = block(x)
        return x
