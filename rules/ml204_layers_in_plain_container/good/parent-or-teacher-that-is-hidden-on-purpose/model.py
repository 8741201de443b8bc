from torch import nn


class Adapter(nn.Module):
    def __init__(self, parent, width):
        super().__init__()
        self._parent = [parent]
        object.__setattr__(self, "teacher", [nn.Linear(width, width)])
        self.__dict__["frozen"] = [nn.Linear(width, width)]
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self._parent[0](self.proj(x)) + self.teacher[0](x) + self.frozen[0](x)
