import torch
from torch import nn


class Trainer:
    def __init__(self, model: nn.Module, hooks):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())
        self.hooks = hooks
        self.hooks.attach(self)

    def fit(self, loader):
        for inputs in loader:
            self.model(inputs).mean().backward()
            self.optimizer.step()
            self.hooks.fire("after step")


class Restarting:
    def __init__(self, tasks):
        self.tasks = tasks

    def start(self):
        self.model = nn.Linear(3, 1)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def fit(self):
        for task in self.tasks:
            self.start()
            self.model(task).mean().backward()
            self.optimizer.step()
