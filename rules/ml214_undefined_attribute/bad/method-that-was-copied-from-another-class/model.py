from torch import nn


class Net(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in widths)

    def penalty(self, factor):
        return factor * sum(layer.weight.abs().sum() for layer in self.layers)


class Convolution(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3)

    def penalty(self, factor):
        return factor * sum(layer.weight.abs().sum() for layer in self.layers)  # expect: ML214

    def forward(self, x):
        if x.dim() != 3:
            raise ValueError(f"expected {self.channels_axis} dimensions")  # expect: ML214
        return self.conv(x)

    def extra_repr(self):
        return f"width={self.in_channels}"  # expect: ML214
