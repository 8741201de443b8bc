from torch import nn


class Reader(nn.Module):
    def __init__(self, width, bidirectional=True):
        super().__init__()
        self.rnn = nn.GRU(80, width, batch_first=True, bidirectional=bidirectional)
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.head(states)  # expect: ML501


class Mixer(nn.Module):
    def __init__(self, width, times=4):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(width, width * times),
            nn.GELU(),
            nn.LayerNorm(width),  # expect: ML501
            nn.Linear(width * times, width),
        )

    def forward(self, x):
        return self.net(x)
