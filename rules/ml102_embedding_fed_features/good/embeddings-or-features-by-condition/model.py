from torch import nn


class Encoder(nn.Module):
    def __init__(self, n_feats, vocab_size, width, is_text):
        super().__init__()
        self.is_text = is_text
        self.norm = nn.LayerNorm(n_feats)
        self.front = nn.Embedding(vocab_size, width) if is_text else nn.Linear(n_feats, width)

    def forward(self, x):
        if not self.is_text:
            x = self.norm(x)
        return self.front(x)


class Stamps(nn.Module):
    def __init__(self, sizes, width, is_table=True):
        super().__init__()
        self.sizes = sizes
        self.is_table = is_table
        if is_table:
            self.parts = nn.ModuleDict({name: nn.Embedding(size, width) for name, size in sizes.items()})
        else:
            self.parts = nn.ModuleDict({name: nn.Linear(1, width) for name in sizes})

    def forward(self, x, stamps):
        for name in stamps:
            if self.is_table:
                x = x + self.parts[name](stamps[name].long())
            else:
                x = x + self.parts[name]((2 * stamps[name] / self.sizes[name] - 1).unsqueeze(-1))
        return x
