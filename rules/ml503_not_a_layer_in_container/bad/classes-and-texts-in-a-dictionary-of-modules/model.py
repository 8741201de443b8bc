from torch import nn


class Acts(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.acts = nn.ModuleDict({"relu": nn.ReLU, "none": nn.Identity()})  # expect: ML503
        self.kind = kind

    def forward(self, x):
        return self.acts[self.kind](x)


def by_name():
    return nn.ModuleDict([["first", nn.Linear(3, 3)], ["second", "Linear"]])  # expect: ML503
