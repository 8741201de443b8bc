from torch import nn


class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 4)

    def forward(self, x, causal=False, mask=None):  # (batch, time, 4)
        if causal:
            x = x.cumsum(1)
        x = self.line(x)
        return x if mask is None else x * mask
