from torch import nn


class Encoder(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.first = nn.Conv1d(1, 32, 7)
        self.layers = nn.ModuleList([nn.Conv1d(32, 32, 3) for _ in widths])
        self.last = nn.Conv1d(32, 512, 3)

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return self.last(x)


class Decoder(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.conv = nn.Conv1d(inside, outside, 7)

    def forward(self, x):
        return self.conv(x).tanh()
