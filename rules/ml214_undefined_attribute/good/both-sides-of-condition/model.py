from torch import nn


class Layer(nn.Module):
    def __init__(self, kind, width, config=None, gate=None):
        super().__init__()
        if kind == "linear":
            self.proj = nn.Linear(width, width)
        elif kind == "conv":
            self.proj = nn.Conv1d(width, width, 1)
        else:
            raise ValueError(kind)
        if config is not None:
            self.drop = nn.Dropout(config["drop"])
        else:
            self.drop = nn.Identity()
        if config is None:
            raise ValueError("a configuration is needed")
        self.rate = config["rate"]
        if gate is not None:
            self.gate = gate
        self.has_gate = gate is not None
        if kind == "conv":
            self.scale = 2.0

    def forward(self, x):
        x = self.drop(self.proj(x)) * self.rate
        if self.has_gate:
            x = self.gate(x)
        return x * getattr(self, "scale", 1.0)


class Named(nn.Module):
    def __init__(self, width, norm=None):
        super().__init__()
        if norm is not None:
            self.norm = norm(width)
        self.reset(width)

    def reset(self, width):
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x)
