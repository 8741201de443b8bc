from torch import nn


class Table(nn.Embedding):
    def __init__(self, rows, width):
        super().__init__(rows, width)


class MaskedModel(nn.Module):
    def __init__(self, width=64, vocab_size=1000):
        super().__init__()
        self.mask_id = vocab_size
        self.embed = Table(vocab_size, width)  # expect: ML104
        self.suffix = Table(vocab_size, width)  # expect: ML104

    def forward(self, ids, mask):
        masked = ids.masked_fill(mask, self.mask_id)
        return self.embed(masked) + self.suffix(ids.new_full((1, 4), self.mask_id + 1)).sum(1)
