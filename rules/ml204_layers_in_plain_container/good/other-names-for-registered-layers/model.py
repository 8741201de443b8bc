from torch import nn


class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.low = nn.Linear(width, width)
        self.high = nn.Linear(width, width)
        self.order = [self.low, self.high]
        first = nn.Linear(width, width)
        self.table = {"first": first}
        self.first = first
        self.modules_by_name = nn.ModuleDict()
        self.sequence = []
        for name in ("a", "b"):
            if name == "a":
                self.sequence.append(len)
            else:
                layer = nn.Linear(width, width)
                self.modules_by_name[name] = layer
                self.sequence.append(layer)

    def forward(self, x):
        for layer in [*self.order, *self.sequence, *self.table.values()]:
            x = layer(x)
        return x
