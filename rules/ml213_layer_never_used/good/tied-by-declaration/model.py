import torch
from torch import nn
from transformers import PreTrainedModel


class Head(nn.Module):
    def __init__(self, width, vocabulary):
        super().__init__()
        self.decoder = nn.Linear(width, vocabulary)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, x):
        return self.decoder(x)


class Model(PreTrainedModel):
    _tied_weights_keys = {"head.decoder.bias": "head.bias"}

    def __init__(self, config):
        super().__init__(config)
        self.head = Head(config.width, config.vocabulary)

    def forward(self, x):
        return self.head(x)
