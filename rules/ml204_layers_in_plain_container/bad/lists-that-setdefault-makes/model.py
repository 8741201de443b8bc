from torch import nn


class Model(nn.Module):
    def __init__(self, width, names):
        super().__init__()
        self.heads = {}  # expect: ML204
        for name in names:
            self.heads.setdefault(name, []).append(nn.Linear(width, width))

    def forward(self, x, name):
        for head in self.heads[name]:
            x = head(x).relu()
        return x
