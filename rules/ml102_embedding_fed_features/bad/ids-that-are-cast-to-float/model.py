from torch import nn


class Pooling(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.first = nn.Embedding(vocab_size, width)
        self.second = nn.Embedding(vocab_size, width)

    def forward(self, ids):
        first = self.first(ids.float())  # expect: ML102
        return first + self.second(ids / 2)  # expect: ML102
