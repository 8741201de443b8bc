from torch import nn


class Model(nn.Module):
    def __init__(self, n_tokens, n_extra, width):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, width)
        self.head = nn.Linear(width, n_tokens + n_extra)
        if n_extra == 0:
            self.head.weight = self.embed.weight
        self.other = nn.Linear(width, n_tokens + 1)
        if self.other.weight.shape == self.embed.weight.shape:
            self.other.weight = self.embed.weight
