from torch import nn


class Step(nn.Module):
    def __call__(self, x, state, **kwargs):
        return super().__call__(x + state)

    def forward(self, x):
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = Step()

    def forward(self, x):
        return self.step(x, 0)
