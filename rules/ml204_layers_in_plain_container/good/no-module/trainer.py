from torch import nn


class Trainer:
    def __init__(self, width):
        self.models = [nn.Linear(width, width) for _ in range(2)]

    def forward(self, x):
        return [model(x) for model in self.models]
