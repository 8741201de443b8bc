import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def _forward(self, x):  # expect: ML513
        return self.body(x)


model = Encoder()
model.train()
output = model(torch.zeros(2, 4))
