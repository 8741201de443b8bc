import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.LSTM(width, width, batch_first=True)

    def forward(self, x):
        state = torch.zeros(1, x.size(0), x.size(2), device=x.device)  # expect: ML211
        output, _ = self.rnn(x, (state, state))
        return output
