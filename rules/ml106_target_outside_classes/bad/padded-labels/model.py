import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Tagger(nn.Module):
    def __init__(self, width, tags):
        super().__init__()
        self.head = nn.Linear(width, tags)

    def loss(self, hidden, sequences):
        labels = pad_sequence(sequences, batch_first=True, padding_value=-1)  # expect: ML106
        return F.cross_entropy(self.head(hidden).transpose(1, 2), labels)
