from torch import nn


class Chain(nn.Module):
    def __init__(self, first, *layers):
        super().__init__()
        self.first = first
        self.layers = layers  # expect: ML204

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return x


class Heads(nn.Module):
    def __init__(self, **heads):
        super().__init__()
        self.heads = heads  # expect: ML204

    def forward(self, x):
        return {name: head(x) for name, head in self.heads.items()}


class Sum(nn.Module):
    def __init__(self, *terms: nn.Module):
        super().__init__()
        self.terms = list(terms)  # expect: ML204

    def forward(self, x):
        return sum(term(x) for term in self.terms)


class Stages(nn.Module):
    def __init__(self, *stages):
        super().__init__()
        self.stages = [stage for stage in stages if stage is not None]  # expect: ML204

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


class Two(Stages):
    def __init__(self, width):
        super().__init__(nn.Linear(width, width), None, nn.Linear(width, width))


def build(width, depth):
    body = Chain(nn.Linear(width, width), *[nn.Linear(width, width) for _ in range(depth)])
    return nn.Sequential(body, Two(width), Heads(mean=nn.Linear(width, 1), scale=nn.Linear(width, 1)))
