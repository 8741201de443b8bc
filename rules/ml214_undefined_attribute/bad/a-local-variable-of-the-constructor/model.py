from torch import nn


class Coder(nn.Module):
    def __init__(self, width):
        super().__init__()
        down = nn.Linear(width, 2)
        up = nn.Linear(2, width)

    def forward(self, x):
        code = down(x)  # expect: ML214
        return self.up(code)  # expect: ML214
