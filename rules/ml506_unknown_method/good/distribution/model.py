import torch
from torch.distributions import Categorical, Normal


class Frame:
    def __init__(self, values):
        self.values = values

    def __mul__(self, other):
        return Frame(self.values * other)

    def invert(self):
        self.values = -self.values


def draw(logits):
    ids = Categorical(logits=logits).sample()
    noise = torch.distributions.Normal(0, 1).rsample(ids.shape)
    generator = torch.Generator().manual_seed(0)
    moved = Frame(ids) * torch.ones(3)
    moved.invert()
    return ids, noise, torch.device("cpu").type.upper(), generator
