from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.CrossEntropyLoss()

    def step(self, x, y):
        self.criterion = self.criterion(self.model(x), y)  # expect: ML517
        return self.criterion
