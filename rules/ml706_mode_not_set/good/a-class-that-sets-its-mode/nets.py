import torch
from torch import nn


class Quiet(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.5)
        self.eval()

    def forward(self, x):
        return self.dropout(x)


class Doubled(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        if self.training:
            return self.dropout(x), x
        return x


class Asleep(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.5)

    def train(self, mode=True):
        return super().train(False)

    def forward(self, x):
        return self.dropout(x)


def main(path, x):
    quiet, doubled, asleep = Quiet(), Doubled(), Asleep()
    quiet.load_state_dict(torch.load(path))
    doubled.load_state_dict(torch.load(path))
    asleep.load_state_dict(torch.load(path))
    with torch.no_grad():
        return quiet(x), doubled(x), asleep(x)
