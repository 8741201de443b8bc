import torch
from torch import nn


class Base(nn.Module):
    size: int
    kinds = ("a", "b")

    def __init__(self, width):
        super().__init__()
        self.register_buffer("scale", torch.ones(width))
        self.add_module("proj", nn.Linear(width, width))
        setattr(self, "width", width)

    @property
    def depth(self):
        return 3

    def forward(self, x):
        return self.proj(x)


class Part(Base):
    class Config:
        rate = 0.1

    def reset(self):
        self.late = 1


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.part = Part(width)

    def forward(self, x):
        part = self.part
        rate = part.Config.rate * part.size * part.late
        return part(x) * self.part.scale * part.depth * self.part.width * rate + len(part.kinds)


print(Model(3).cpu().part.proj.weight.device)
