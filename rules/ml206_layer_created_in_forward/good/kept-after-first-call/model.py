from torch import nn


class Lazy(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.proj = None
        self.built = False
        self.heads = nn.ModuleDict()

    def build(self, x):
        self.head = nn.Linear(x.size(-1), self.width)
        self.built = True

    def forward(self, x, task):
        if self.proj is None:
            self.proj = nn.Linear(x.size(-1), self.width)
        if not hasattr(self, "norm"):
            self.norm = nn.LayerNorm(self.width)
        if not self.built:
            self.build(x)
        if task not in self.heads:
            self.heads[task] = nn.Linear(self.width, self.width)
        return self.heads[task](self.norm(self.proj(x) + self.head(x)))
