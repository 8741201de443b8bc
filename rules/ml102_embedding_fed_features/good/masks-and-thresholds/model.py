from torch import nn


class Voicing(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.predict = nn.Linear(width, 1)
        self.embed = nn.Embedding(2, width)

    def forward(self, x):
        voiced = self.predict(x).squeeze(-1) > 0
        return x + self.embed(voiced.long())
