from torch import nn


class Either(nn.Module):
    def __init__(self, width, has_bias):
        super().__init__()
        if has_bias:
            self.proj = nn.Linear(width, width)
        else:
            self.proj = nn.Linear(width, width, bias=False)

    def forward(self, x):
        hidden = self.proj(x)
        x[:, -1] = 0  # expect: ML709
        return hidden
