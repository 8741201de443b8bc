import torch
from pathos.helpers import mp
from torch import nn


class Worker(mp.Process):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.queue = mp.Queue()

    def run(self):
        self.queue.put(self.layer(torch.zeros(1, self.layer.in_features)))


class Manager(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.lift = nn.Linear(width, width)

    def start(self):
        self.workers = [Worker(self.width) for _ in range(3)]
        for one in self.workers:
            one.start()

    def forward(self, x):
        return self.lift(x)
