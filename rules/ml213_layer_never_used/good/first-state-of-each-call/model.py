import torch
from base import Captioner
from torch import nn


class Attending(Captioner):
    def __init__(self, width):
        super().__init__()
        self.first_hidden = nn.Linear(width, width)
        self.first_cell = nn.Linear(width, width)

    def init_hidden_states(self, features):
        return self.first_hidden(features), self.first_cell(features)


class Recurrent(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(width))
        self.cell = nn.GRUCell(width, width)

    def reset(self, batch):
        self.init_state(batch)

    def init_state(self, batch):
        self.state = self.start.expand(batch, -1)

    def forward(self, x):
        self.reset(len(x))
        self.state = self.cell(x, self.state)
        return self.state


class Stepped(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.cell = nn.GRUCell(width, width)

    def initialize(self, features):
        return self.first(features.mean(1))

    def forward(self, x, state):
        return self.cell(x, state)
