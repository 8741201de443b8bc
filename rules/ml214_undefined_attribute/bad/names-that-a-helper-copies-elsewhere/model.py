from copying import copy_settings
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        return self.proj(x), self.labels  # expect: ML214


class Report:
    pass


def report():
    detector = Detector()
    found = Report()
    copy_settings(found, detector, only=("proj",))
    return found, detector(1)
