from torch import nn


class Head(nn.Module):
    def __init__(self, width, kind):
        super().__init__()
        self.kind = kind
        for name, layer in [("softmax", nn.Softmax(dim=1)), ("sigmoid", nn.Sigmoid())]:
            if name == kind:
                self.add_module(name, layer)

    def forward(self, x):
        if self.kind == "softmax":
            return self.softmax(x)
        if "relu" in self._modules:
            return self.relu(x)
        return x
