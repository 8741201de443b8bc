from torch import nn


class Recogniser(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.head = nn.Linear(width, vocab_size + 1)
        self.norm = nn.LayerNorm(width)
        self.norm.weight = nn.LayerNorm(width).weight

    def forward(self, ids):
        return self.head(self.norm(self.embed(ids)))
