from torch import nn


def build(width):
    return nn.Sequential(*(nn.Linear(width, width), nn.ReLU()))  # expect: ML503
