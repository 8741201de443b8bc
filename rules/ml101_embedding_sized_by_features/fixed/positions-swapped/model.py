from torch import nn


class Text(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.symbols = nn.Embedding(width, width)  # expect: ML101
        self.places = nn.Embedding(longest, width)  # expect: ML101
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, places):
        return self.norm(self.symbols(ids) + self.places(places))


class Kinds(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.kinds = nn.Embedding(2, width)  # expect: ML101
        self.norm = nn.LayerNorm(width)

    def forward(self, x, kinds):
        return self.norm(x) + self.kinds(kinds)


def bucket(distance, n_buckets):
    return distance.abs().clamp(max=n_buckets - 1)


class Bias(nn.Module):
    def __init__(self, heads, n_buckets, config):
        super().__init__()
        self.n_buckets = n_buckets
        self.bias = nn.Embedding(n_buckets, heads)  # expect: ML101
        self.steps = nn.Embedding(config.steps, config.heads)  # expect: ML101
        self.config = config

    def forward(self, distance):
        steps = self.steps(distance.clamp(0, self.config.steps - 1))
        return self.bias(bucket(distance, self.n_buckets)) + steps


class Words(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.words = nn.Embedding(len(config.words), config.text.embedding_dim)  # expect: ML101
        self.norm = nn.LayerNorm(config.text.embedding_dim)

    def forward(self, ids):
        return self.norm(self.words(ids))
