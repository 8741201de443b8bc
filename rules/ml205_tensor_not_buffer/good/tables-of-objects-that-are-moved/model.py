import torch
from torch import nn


class Angles:
    def __init__(self, width):
        self.cos = torch.arange(width).float().cos()
        self.sin = torch.arange(width).float().sin()

    def to(self, device):
        self.cos = self.cos.to(device)
        self.sin = self.sin.to(device)
        return self


class Rotated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.angles = Angles(width)

    def forward(self, x):
        angles = self.angles.to(x.device)
        return self.lin(x) * angles.cos + angles.sin


class Tables:
    def __init__(self, width):
        self.cos = torch.arange(width).float().cos()
        self.sin = torch.arange(width).float().sin()

    def turn(self, x):
        return x * self.cos.to(x.device) + self.sin.type_as(x)


class Turned(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.tables = Tables(width)
        self.register_buffer("cos", Tables(width).cos)

    def forward(self, x):
        return self.tables.turn(self.lin(x)) + self.tables.cos.to(x) + self.cos


class Slopes:
    def __init__(self, width):
        self.slopes = torch.arange(width).float()


class Looked(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.slopes = Slopes(width)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self.slopes.slopes = fn(self.slopes.slopes)
        return self

    def forward(self, x):
        return self.lin(x) * self.slopes.slopes


class Initial:
    def __init__(self, width):
        self.table = torch.linspace(0, 1, width)

    def of(self, weight):
        return weight * self.table


class Initialised(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.initial = Initial(width)
        self.lin.weight.data = self.initial.of(self.lin.weight.data)

    def forward(self, x):
        return self.lin(x)


class Noise:
    def __init__(self, width):
        self.noise = torch.randn(width)

    def __call__(self, image):
        return image + self.noise


class Augmented(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.noise = Noise(width)
        self.lin = nn.Linear(width, width)

    def collate(self, samples):
        return torch.stack([self.noise(sample) for sample in samples])

    def forward(self, x):
        return self.lin(x)


class Steps:
    def __init__(self, number):
        self.steps = torch.linspace(0, 1, number)

    def scale(self, x, step: int):
        return x * self.steps[step] + self.steps[step].item()


class Stepped(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.steps = Steps(10)

    def forward(self, x, step: int):
        return self.steps.scale(self.lin(x), step)
