from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, ids, mask):
        ids = ids.masked_fill(mask, -100)  # expect: ML304
        return self.embed(ids)
