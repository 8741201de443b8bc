from torch import nn


class Text(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.symbols = nn.Embedding(width, width)  # expect: ML101
        self.places = nn.Embedding(width, longest)  # expect: ML101
        self.kinds = nn.Embedding(width, 2)  # expect: ML101
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, places, kinds):
        return self.norm(self.symbols(ids) + self.places(places)), self.kinds(kinds)


def bucket(distance, n_buckets):
    return distance.abs().clamp(max=n_buckets - 1)


class Bias(nn.Module):
    def __init__(self, heads, n_buckets, config):
        super().__init__()
        self.n_buckets = n_buckets
        self.bias = nn.Embedding(heads, n_buckets)  # expect: ML101
        self.steps = nn.Embedding(config.heads, config.steps)  # expect: ML101
        self.words = nn.Embedding(config.text.embedding_dim, len(config.words))  # expect: ML101
        self.config = config

    def forward(self, distance, ids):
        steps = self.steps(distance.clamp(0, self.config.steps - 1))
        return self.bias(bucket(distance, self.n_buckets)) + steps, self.words(ids)
