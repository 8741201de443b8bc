import torch

from base import Base


class Net(Base):
    def build(self):
        self.register_buffer("scale", torch.linspace(0.0, 1.0, 8), persistent=False)  # expect: ML205

    def mix(self, x):
        return x * self.scale
