import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def pooled(self, x):
        print(x)

    def forward(self, x):
        return self.pooled(self.fc(x)).sum()


def with_mean(model: Model):
    model.pooled = lambda x: torch.mean(x, 0)
    return model
