from torch import nn


class Decoder(nn.Module):
    def __init__(self, width, queries):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.queries = nn.Embedding(queries, width)

    def forward(self, x, queries):
        return self.proj(x + queries)
