from torch import nn
from torch.nn.utils.rnn import pad_sequence

from config import PAD, VOCAB_SIZE


class TextEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(VOCAB_SIZE + 1, width, padding_idx=PAD)

    def forward(self, texts):
        return self.embed(pad_sequence(texts, batch_first=True, padding_value=PAD))
