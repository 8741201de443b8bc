from torch import nn


class Adapting(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 16, 3)
        self.head = nn.Linear(64, 10)

    def adapt(self, classes):
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(self.conv(x).mean(-1))


class Built(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(3, 40)
        self._build()
        self.layers.append(nn.Linear(40, 80))
        self.head = nn.Linear(80, 2)

    def _build(self):
        self.layers = nn.Sequential()

    def forward(self, x):
        return self.head(self.layers(self.stem(x)))
