from torch import nn


class Ending(nn.Module):
    def __init__(self, kinds, width):
        super().__init__()
        head = nn.Linear(width, 2)
        self.parts = nn.ModuleList()
        for kind in kinds:
            if kind == "head":
                self.parts.append(head)
                break
            self.parts.append(nn.Linear(width, width))

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
