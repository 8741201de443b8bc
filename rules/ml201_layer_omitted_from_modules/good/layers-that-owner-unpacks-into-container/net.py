import torch
from speechbrain.nnet.containers import Sequential


class Convolutions(torch.nn.Module):
    def __init__(self, layers, input_shape=None):
        super().__init__()
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


class Shaped(torch.nn.Module):
    def __init__(self, layers, input_shape=None):
        super().__init__()
        self.layers = Sequential(input_shape=input_shape, *layers)

    def forward(self, x):
        return self.layers(x)
