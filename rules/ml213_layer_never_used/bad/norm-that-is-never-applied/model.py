from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)  # expect: ML213
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        # x = self.norm(x)
        return self.proj(x)
