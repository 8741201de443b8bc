import torch
from torch import nn



class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)


def build(width):
    return Encoder(width)
