from collections import namedtuple

import torch
from torch import nn

State = namedtuple("State", ["hidden", "cell"])
Offsets = namedtuple("Offsets", "first, last")


class Steps(nn.Module):
    def __init__(self, width, steps):
        super().__init__()
        self.steps = steps
        self.rnn = nn.LSTMCell(width, width)
        self.register_buffer("hidden", torch.zeros(1, width), persistent=False)  # expect: ML205
        self.register_buffer("cell", torch.zeros(1, width), persistent=False)  # expect: ML205
        self.register_buffer("first", torch.linspace(0, 1, width), persistent=False)  # expect: ML205

    def begin(self, batch):
        return State(hidden=self.hidden.expand(batch, -1), cell=self.cell.expand(batch, -1))

    def step(self, inputs, before):
        hidden, cell = self.rnn(inputs, (before.hidden, before.cell))
        return State(hidden, cell)

    def forward(self, frames):
        offsets = Offsets(self.first, None)
        state = self.begin(frames.shape[0])
        for number in range(self.steps):
            state = self.step(frames[:, number] + offsets.first, state)
        return state.hidden
