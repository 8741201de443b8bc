from torch import nn


class Columns(nn.Module):
    def __init__(self, n_columns, n_words):
        super().__init__()
        self.columns, self.bias = nn.Embedding(n_columns, 4), nn.Embedding(n_words, 1)
        self.mix = nn.Linear(n_columns, n_words)
