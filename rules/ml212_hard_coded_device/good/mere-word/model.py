from torch import nn


class Model(nn.Module):
    def __init__(self, backend="cuda"):
        super().__init__()
        self.backend = backend
        self.names = {"cuda": 1, "cpu": 2}

    def forward(self, x):
        return x * self.names["cuda"] if x.device.type == "cuda" else x
