import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.register_buffer("state", torch.zeros(1, 1, width), persistent=False)  # expect: ML205
        self.register_buffer("limit", torch.tensor(2.0), persistent=False)  # expect: ML205

    def forward(self, x):
        state = self.state.repeat(1, len(x), 1)
        x, _ = self.lstm(x, (state, state))
        return self.rnn(x)[0].clamp(max=self.limit)
