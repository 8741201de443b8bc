import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, texts):
        ids = pad_sequence(texts, batch_first=True, padding_value=-1)
        mask = ids == -1
        embedded = self.embed(ids.masked_fill(mask, 0))
        again = self.embed(torch.where(ids < 0, 0, ids)) + self.embed(ids.clamp(min=0))
        return embedded + again
