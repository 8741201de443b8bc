from torch import nn


class Tagger(nn.Module):
    def __init__(self, width: int = 8, tags: int = 4):
        super().__init__()
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.fc = nn.Linear(width, tags)

    def forward(self, x):  # (batch, time, 8)
        x = self.lstm(x)
        return self.fc(x[0])  # expect: ML510
