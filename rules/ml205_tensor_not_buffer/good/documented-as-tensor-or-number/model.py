from torch import nn


class Scaled(nn.Module):
    """A layer that is scaled.

    Args:
        scale (float or Tensor): by how much
        weight (Optional[float]): what for
        bias (Tensor): added on the device of the input
    """

    def __init__(self, scale, weight=None, bias=None):
        super().__init__()
        self.scale = scale
        self.weight = weight
        self.bias = bias

    def forward(self, x):
        return x * self.scale * (self.weight or 1.0) + self.bias.to(x)
