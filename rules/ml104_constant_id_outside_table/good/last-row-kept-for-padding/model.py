from torch import nn


class TextEncoder(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.pad = vocab_size - 1
        self.embed = nn.Embedding(vocab_size, width, padding_idx=-1)

    def forward(self, ids, mask):
        return self.embed(ids.masked_fill(mask, self.pad))
