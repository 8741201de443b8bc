from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.build()

    def forward(self, x):
        return self.mix(x)
