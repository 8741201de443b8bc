from torch import nn


def share(head, table):
    if head.weight.shape == table.weight.shape:
        setattr(head, "weight", table.weight)


class Decoder(nn.Module):
    def __init__(self, width, n_tokens):
        super().__init__()
        self.embed = nn.Embedding(n_tokens + 2, width)
        self.head = nn.Linear(width, n_tokens, bias=False)
        self.head.weight = nn.Parameter(self.embed.weight[2:])
        self.output = nn.Linear(width, n_tokens, bias=False)
        share(self.output, self.embed)

    def forward(self, ids):
        x = self.embed(ids)
        return self.head(x), self.output(x)
