from settings import fields
from torch import nn


@fields
class Text:
    vocab_size: int = 1000


@fields
class Speech:
    mask_id: int = 4096


class Encoder(nn.Module):
    def __init__(self, text: Text, speech: Speech, width, n_phones=-1):
        super().__init__()
        self.speech = speech
        self.words = nn.Embedding(text.vocab_size, width)
        self.phones = nn.Embedding(n_phones, width)

    def forward(self, ids, phones, mask):
        return self.words(ids.masked_fill(mask, self.speech.mask_id)) + self.phones(phones.masked_fill(mask, 0))
