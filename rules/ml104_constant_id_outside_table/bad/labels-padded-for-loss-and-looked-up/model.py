from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Model(nn.Module):
    def __init__(self, n_labels, width):
        super().__init__()
        self.labels = nn.Embedding(n_labels, width)  # expect: ML104
        self.words = nn.Embedding(n_labels, width)  # expect: ML104

    def pad(self, batch):
        return {
            "labels": pad_sequence(batch, padding_value=-1),
            "words": pad_sequence(batch, padding_value=0),
        }

    def forward(self, batch):
        padded = self.pad(batch)
        return self.labels(padded["labels"]) + self.words(padded["words"] - 1)
