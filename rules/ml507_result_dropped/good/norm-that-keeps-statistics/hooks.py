from torch import nn


class Watched(nn.Module):
    def __init__(self, width, keep):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.proj.register_forward_hook(keep)

    def forward(self, x):
        self.proj(x)
        return x
