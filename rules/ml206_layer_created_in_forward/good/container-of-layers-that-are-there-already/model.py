from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        return nn.Sequential(self.first, nn.ReLU(), self.second)(x)
