from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.proj = nn.Linear(width, width)

    def reset(self):
        self.proj.reset_parameters()

    def forward(self, x):
        return self.proj(x)
