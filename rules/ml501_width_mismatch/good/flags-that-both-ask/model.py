import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self, width, bidirectional=True):
        super().__init__()
        self.rnn = nn.GRU(80, width, batch_first=True, bidirectional=bidirectional)
        self.head = nn.Linear(width * 2 if bidirectional else width, 5)
        self.other = nn.Linear(width * (1 + bidirectional), 5)

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.head(states) + self.other(states)


class Counted(nn.Module):
    def __init__(self, width=64, bidirectional=True):
        super().__init__()
        self.directions = 2 if bidirectional else 1
        self.rnn = nn.LSTM(80, width, batch_first=True, bidirectional=bidirectional)
        self.head = nn.Linear(width * self.directions, 5)

    def forward(self, x):
        return self.head(self.rnn(x)[0])


class Up(nn.Module):
    def __init__(self, width, smooth=True):
        super().__init__()
        if smooth:
            self.up = nn.Upsample(scale_factor=2)
            self.conv = nn.Conv2d(width, width, 3, padding=1)
        else:
            self.up = nn.ConvTranspose2d(width, width // 2, 2, stride=2)
            self.conv = nn.Conv2d(width // 2, width, 3, padding=1)

    def forward(self, x):
        return self.conv(self.up(x))


class Asked(nn.Module):
    def __init__(self, learnt):
        super().__init__()
        self.learnt = learnt
        self.stem = nn.Conv2d(3, 64, 3)
        if learnt:
            self.up = nn.ConvTranspose2d(64, 32, 2, stride=2)
        else:
            self.up = nn.Upsample(scale_factor=2)
            self.less = nn.Conv2d(64, 32, 1)
        self.conv = nn.Conv2d(32, 16, 3)

    def forward(self, x):
        x = self.up(self.stem(x))
        if not self.learnt:
            x = self.less(x)
        return self.conv(x)


class Halved(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(10, width // 2)
        self.second = nn.Linear(width // 2, 2 * (width // 4))
        self.third = nn.Linear(width - width // 2, 4)
        self.fourth = nn.Linear(width // 2, 4)

    def forward(self, x):
        half = self.first(x).relu()
        return self.second(half), self.third(half), self.fourth(half)


class Flattened(nn.Module):
    def __init__(self, times=4):
        super().__init__()
        self.conv = nn.Conv2d(3, 32, 3)
        self.head = nn.Linear(1056, 64)
        self.net = nn.Sequential(nn.Linear(64, 64 * times), nn.LayerNorm(64 * times), nn.Linear(64 * times, 64))

    def forward(self, images):
        return self.net(self.head(torch.flatten(self.conv(images), 1)))


class Moments(nn.Module):
    def __init__(self, width, is_double=True):
        super().__init__()
        self.conv = nn.Conv2d(3, 2 * width if is_double else width, 3)

    def forward(self, images):
        return self.conv(images)


class AutoEncoder(nn.Module):
    def __init__(self, is_double=True, width=4):
        super().__init__()
        assert is_double
        self.moments = Moments(width, is_double=is_double)
        self.last = nn.Conv2d(2 * width, 8, 1)

    def forward(self, images):
        return self.last(self.moments(images))
