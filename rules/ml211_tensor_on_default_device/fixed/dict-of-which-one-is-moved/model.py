import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.LSTM(width, width)

    def forward(self, x):
        extra = {"bias": torch.ones(x.size(2), device=x.device), "scale": torch.ones(x.size(2))}  # expect: ML211
        if torch.cuda.is_available():
            extra["scale"] = extra["scale"].cuda()
        state = torch.zeros(1, x.size(1), x.size(2))
        cell = torch.zeros(1, x.size(1), x.size(2), device=x.device)  # expect: ML211
        if torch.cuda.is_available():
            state = state.cuda()
        output, _ = self.rnn(x, (state, cell))
        return output * extra["scale"] + extra["bias"]
