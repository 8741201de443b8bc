from torch import nn


class Speller(nn.Module):
    """A head that shares its weight with the table."""

    def __init__(self, tokens, classes, width=32):
        super().__init__()
        self.table = nn.Embedding(tokens, width)
        self.head = nn.Linear(width, classes, bias=False)
        self.head.weight = self.table.weight

    def forward(self, ids):
        return self.head(self.table(ids))
