import torch
from torch import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(64, 32)
        self.key = nn.Linear(128, 32)
        self.value = nn.Linear(128, 32)

    def forward(self, tokens):
        query = self.query(tokens)
        key = self.key(tokens)  # expect: ML501
        return query * key + self.value(tokens)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(16)
        self.conv = nn.Conv2d(16, 32, 3, padding=1)
        self.shortcut = nn.Conv2d(8, 32, 1)

    def forward(self, image):
        out = self.conv(torch.relu(self.norm(image)))
        return out + self.shortcut(image)  # expect: ML501


class OfAnyEncoder(nn.Module):
    def __init__(self, encoder, classes):
        super().__init__()
        self.encoder = encoder
        self.scores = nn.Linear(256, classes)
        self.boxes = nn.Sequential(nn.Linear(512, 128), nn.ReLU(), nn.Linear(128, 4))

    def forward(self, image):
        features = self.encoder(image)
        return self.scores(features), self.boxes(features)  # expect: ML501


class InTwoMethods(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.wide = nn.Linear(2 * width, 10)
        self.narrow = nn.GRU(width, 10)

    def outer(self, steps):
        return self.wide(torch.tanh(steps))

    def inner(self, steps):
        return self.narrow(steps)[0]  # expect: ML501

    def forward(self, steps):
        return self.outer(steps) + self.inner(steps)


class UnderOneCondition(nn.Module):
    def __init__(self, is_gated):
        super().__init__()
        self.is_gated = is_gated
        self.gate = nn.Linear(48, 1)
        self.out = nn.Linear(96, 8)

    def forward(self, x):
        if self.is_gated:
            gate = torch.sigmoid(self.gate(x))
            return gate * self.out(x)  # expect: ML501
        return self.out(x)
