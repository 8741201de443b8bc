from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 8)
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        h, _ = self.lstm(x)
        g = self.lstm(x)[0]
        f = self.lstm(x)
        if isinstance(f, tuple):
            f = f[0]
        return self.fc(h) + self.fc(g) + self.fc(f)
