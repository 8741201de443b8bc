import torch
from torch import nn


class Select(nn.Module):
    def __init__(self, places):
        super().__init__()
        self.register_buffer("places", places, persistent=False)  # expect: ML205

    def forward(self, x):
        return x.index_select(1, self.places)


class Convert(nn.Module):
    def __init__(self, places=(1, 0)):
        super().__init__()
        self.register_buffer("places", torch.as_tensor(places), persistent=False)  # expect: ML205

    def forward(self, x):
        return torch.index_select(x, 1, self.places)


class Data(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.mean = torch.tensor([0.5, 0.4, 0.3])


class Centred(nn.Module):
    def __init__(self, width, mean):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.register_buffer("mean", mean, persistent=False)  # expect: ML205

    def forward(self, x):
        return self.lin(x) + self.mean


def build(rows):
    data = Data(rows)
    return Centred(3, data.mean)


net = Select(torch.tensor([2, 0]))
