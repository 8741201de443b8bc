from collections import namedtuple

import torch
from torch import nn

State = namedtuple("State", ["hidden", "cell", "start"])


class Steps(nn.Module):
    def __init__(self, width, steps):
        super().__init__()
        self.steps = steps
        self.rnn = nn.LSTMCell(width, width)
        self.register_buffer("hidden", torch.zeros(1, width), persistent=False)
        self.cell = torch.zeros(1, width)
        self.start = torch.zeros(width)

    def begin(self, frames):
        cell = self.cell.to(frames.device)
        return State(self.hidden.expand(len(frames), -1), cell.expand(len(frames), -1), self.start)

    def step(self, inputs, before):
        hidden, cell = self.rnn(inputs, before[:2])
        return State(hidden, cell, before.start)

    def forward(self, frames):
        state = self.begin(frames)
        for number in range(self.steps):
            state = self.step(frames[:, number], state)
        return state.hidden, state.start.shape
