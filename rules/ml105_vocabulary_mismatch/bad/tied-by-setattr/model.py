from torch import nn

from tying import share


class Decoder(nn.Module):
    def __init__(self, width, n_tokens, n_extra):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, width)  # expect: ML105
        self.head = nn.Linear(width, n_tokens + 2, bias=False)
        setattr(self.head, "weight", self.embed.weight)
        self.table = nn.Embedding(n_extra + 1, width)
        self.output = nn.Linear(width, n_extra, bias=False)  # expect: ML105
        share(self.output, self.table)

    def forward(self, ids, extra):
        return self.head(self.embed(ids)), self.output(self.table(extra))
