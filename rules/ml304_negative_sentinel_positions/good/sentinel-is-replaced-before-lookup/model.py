import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)

    def forward(self, texts):
        labels = pad_sequence(texts, batch_first=True, padding_value=-100)
        ids = torch.where(labels == -100, 0, labels)
        return self.embed(ids) + self.embed(labels.clamp(min=0)) + self.embed(labels.masked_fill(labels < 0, 0))
