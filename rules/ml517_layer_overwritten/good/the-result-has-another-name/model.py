from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.CrossEntropyLoss()
        self.loss = None

    def step(self, x, y):
        self.loss = self.criterion(self.model(x), y)
        return self.loss


def train(batches):
    model, criterion = nn.Linear(4, 4), nn.MSELoss()
    for x in batches:
        loss = criterion(model(x), x)
        loss.backward()
