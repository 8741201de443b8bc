from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def encode(self, x):
        return x, x

    def forward(self, x):
        return self.fc(self.encode(x))


class Plain(Encoder):
    def encode(self, x):
        return x
