from torch import nn


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.proj = nn.Linear(config.width, config.width)
        self.depth = config.depth

    def forward(self, x):
        steps = 0
        while steps < self.depth:
            x = self.proj(x)
            steps += 1
            if self.config.chunk:
                steps += self.chunk  # expect: ML214
        try:
            return x * self.gain  # expect: ML214
        except AttributeError:
            return x


def prepare(config, chunk):
    config.chunk = chunk
    return Block(config)
