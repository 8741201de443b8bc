from torch import nn

from config import PAD, VOCAB_SIZE


class TextEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(VOCAB_SIZE, width, padding_idx=PAD)  # expect: ML104

    def forward(self, ids):
        return self.embed(ids)
