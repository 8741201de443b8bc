import torch

from base import Base


class Scaled(Base):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(1))  # expect: ML517

    def forward(self, x: torch.Tensor):
        return x * self.scale
