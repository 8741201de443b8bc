import torch
import torch.nn as nn
import torch.nn.init as initialisers


class Step(nn.Module):
    def __init__(self, width, start="xavier_uniform_"):
        super().__init__()
        self.start = start
        fill = getattr(initialisers, self.start)
        self.register_buffer("mix", fill(torch.empty([width, width])), persistent=False)  # expect: ML205
        self.register_buffer("turn", getattr(nn.init, start)(torch.empty(width, width)), persistent=False)  # expect: ML205

    def forward(self, x):
        return torch.tanh(x @ self.mix) @ self.turn
