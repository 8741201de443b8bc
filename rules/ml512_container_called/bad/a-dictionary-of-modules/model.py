from torch import nn


class Net(nn.Module):
    def __init__(self, deep: bool = True):
        super().__init__()
        if deep:
            self.heads = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 2)})
        else:
            self.heads = nn.ModuleDict({"a": nn.Linear(4, 4)})

    def forward(self, x):  # (batch, 4)
        return self.heads(x)  # expect: ML512
