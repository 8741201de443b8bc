from torch import nn


class Activation(nn.Module):
    def __init__(self, kind):
        super().__init__()
        kinds = {
            "relu": nn.ReLU, "relu6": nn.ReLU6, "leaky": nn.LeakyReLU, "prelu": nn.PReLU, "celu": nn.CELU,
            "elu": nn.ELU, "hardswish": nn.Hardswish, "hardtanh": nn.Hardtanh, "gelu": nn.GELU, "selu": nn.SELU,
            "silu": nn.SiLU, "sigmoid": nn.Sigmoid, "mish": nn.Mish, "softplus": nn.Softplus, "none": nn.Identity,
        }  # fmt: skip
        self.activation = kinds[kind]()

    def forward(self, x):
        return self.activation(x)


class Active(nn.Sequential):
    def __init__(self, width, kind):
        super().__init__(nn.Conv2d(width, width, 1), nn.BatchNorm2d(width), Activation(kind))


class Sums(nn.Module):
    def __init__(self, width, kind="prelu"):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(4):
            self.layers.append(Active(width, kind))

    def forward(self, x):
        parts = []
        for i in range(4):
            parts.append(self.layers[i](x))
        for i in range(1, 4):
            parts[i] += parts[i - 1]
        return parts[0] + parts[3]


class Twice(nn.Module):
    def __init__(self, width, kind="prelu"):
        super().__init__()
        self.first = Sums(width, kind)
        self.second = Sums(width, kind)

    def forward(self, x):
        x = self.first(x)
        return self.second(x)
