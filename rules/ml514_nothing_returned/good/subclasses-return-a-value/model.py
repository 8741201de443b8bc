from torch import nn


class Base(nn.Module):
    def encode(self, x):
        print("not implemented")

    def forward(self, x):
        return self.encode(x).sum()


class Encoder(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def encode(self, x):
        return self.fc(x)
