import torch
import torch.nn as nn
import torch.nn.init as initialisers


class Step(nn.Module):
    def __init__(self, width, start="xavier_uniform_"):
        super().__init__()
        self.start = start
        fill = getattr(initialisers, self.start)
        self.mix = fill(torch.empty([width, width]))  # expect: ML205
        self.turn = getattr(nn.init, start)(torch.empty(width, width))  # expect: ML205

    def forward(self, x):
        return torch.tanh(x @ self.mix) @ self.turn
