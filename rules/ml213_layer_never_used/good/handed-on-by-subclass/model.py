from torch import nn


class Base(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(4, 4) for _ in range(depth))
        self.first = nn.Linear(4, 4)


class ByMode(Base):
    def __init__(self, depth):
        super().__init__(depth)
        self._by_mode = {"train": self.parts}
        self._by_mode["valid"] = self.parts
        self.chosen = [self.first]
        nn.init.zeros_(self.first.weight)

    def forward(self, x, mode):
        for part in self._by_mode[mode]:
            x = part(x)
        return self.chosen[0](x)
