from torch import nn


class Base(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dim = config.embed_dim
        self.proj = nn.Linear(self.dim, self.dim)


class Block(Base):
    def __init__(self, config):
        super().__init__(config)
        self.dim = config.hidden_size
        self.out = nn.Linear(config.hidden_size, 2)

    def forward(self, x):
        return self.out(self.proj(x))
