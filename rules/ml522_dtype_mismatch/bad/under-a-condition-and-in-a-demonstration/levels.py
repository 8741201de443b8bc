import torch
from torch import nn


class Levels(nn.Module):
    def __init__(self, use_places: bool):
        super().__init__()
        self.use_places = use_places
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        if self.use_places:
            places = torch.arange(4)
            x = x + self.fc(places)  # expect: ML522
        return x


def test_levels():
    layer = nn.Linear(2, 2)
    assert layer(torch.tensor([1, 2])).shape == (2,)  # expect: ML522
