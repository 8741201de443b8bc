from torch import nn


class SlimEncoder(nn.Module):
    def __init__(self):
        raise ValueError("retired: use `Encoder(slim=True)`")


class Encoder(nn.Module):
    def __init__(self, width, slim=False):
        super().__init__()
        self.fc = nn.Linear(8, width // 2 if slim else width)

    def forward(self, x):
        return self.fc(x)


def load_encoder():
    """It was given a path once."""
    message = "call `torch.load` instead"
    raise RuntimeError(message)


def build(kind, width, path):
    if kind == "slim":
        return SlimEncoder(width)
    if kind == "stored":
        return load_encoder(path)
    return Encoder(width)
