from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, pair):
        return self.fc(pair[0])


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 8)
        self.head = Head()
        self.last = nn.Sequential(nn.Linear(8, 8), nn.LSTM(8, 8))

    def forward(self, x):
        out, state = self.last(x)
        return self.head(self.lstm(x)), out
