from torch import nn


class Encoder(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.proj = nn.Linear(inside, outside)
        self.blocks = nn.ModuleList([nn.Linear(outside, outside) for _ in range(4)])

    def forward(self, x):
        x = self.proj(x)
        for block in self.blocks:
            x = x + block(x).relu()
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        width = 256
        self.encoder = Encoder(80, width)
        self.decoder = Encoder(width * 2, 80)
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        hidden = self.encode(x)
        return self.classify(self.decoder(hidden))  # expect: ML501

    def encode(self, x):
        return self.encoder(x)

    def classify(self, x):
        return self.head(x.transpose(1, 2).transpose(1, 2))

    def again(self, x):
        return self.head(self.encode(x))  # expect: ML501
