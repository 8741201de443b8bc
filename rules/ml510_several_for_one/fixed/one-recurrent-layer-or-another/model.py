from torch import nn


class Tagger(nn.Module):
    def __init__(self, gated: bool = True):
        super().__init__()
        self.gated = gated
        self.gru = nn.GRU(8, 8)
        self.rnn = nn.RNN(8, 8)
        self.fc = nn.Linear(8, 4)

    def forward(self, x):  # (time, batch, 8)
        if self.gated:
            h = self.gru(x)
        else:
            h = self.rnn(x)
        return self.fc(h[0])  # expect: ML510
