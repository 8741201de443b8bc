from torch import nn

from positions import Positions


class Model(nn.Module):
    def __init__(self, layers, words, max_seq_len):
        super().__init__()
        dim = layers.dim
        self.words = nn.Embedding(words, dim)
        self.positions = Positions(dim, max_seq_len)  # expect: ML101

    def forward(self, ids):
        x = self.words(ids)
        return x + self.positions(x)
