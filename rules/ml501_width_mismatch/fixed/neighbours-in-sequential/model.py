from collections import OrderedDict

import torch.nn as nn


def conv_block(inside, outside):
    return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.ReLU())


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            conv_block(3, 32),
            nn.MaxPool2d(2),
            conv_block(64, 64),  # expect: ML501
        )

    def forward(self, x):
        return self.features(x)


class Classifier(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 64, 3),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d((2, 2)),
            nn.Flatten(),
            nn.Dropout(0.1),
            nn.Linear(256, hidden),  # expect: ML501
        )

    def forward(self, x):
        return self.net(x)


class Head(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.proj = nn.Sequential(nn.Linear(10, hidden), nn.ReLU(), nn.Linear(2 * hidden, 10))  # expect: ML501

    def forward(self, x):
        return self.proj(x)


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Sequential(
            OrderedDict([("norm", nn.LayerNorm(10)), ("proj", nn.Linear(10, 5)), ("out", nn.Linear(5, 7))])  # expect: ML501
        )

    def forward(self, x):
        return self.head(x)
