import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.LSTM(width, width)

    def forward(self, x):
        extra = {"bias": torch.ones(x.size(2)), "scale": torch.ones(x.size(2))}  # expect: ML211
        if torch.cuda.is_available():
            extra["scale"] = extra["scale"].cuda()
        state = [torch.zeros(1, x.size(1), x.size(2)), torch.zeros(1, x.size(1), x.size(2))]  # expect: ML211
        if torch.cuda.is_available():
            state[0] = state[0].cuda()
        output, _ = self.rnn(x, (state[0], state[1]))
        return output * extra["scale"] + extra["bias"]
