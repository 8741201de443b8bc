from torch import nn


class Act(nn.Module):
    def forward(self, x):
        return x.relu()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.activations = [nn.ReLU(), nn.GELU(), nn.Dropout(0.1), Act()]
        self.losses = {"l1": nn.L1Loss(), "ce": nn.CrossEntropyLoss()}

    def forward(self, x, target):
        for act in self.activations:
            x = act(self.proj(x))
        return self.losses["l1"](x, target)
