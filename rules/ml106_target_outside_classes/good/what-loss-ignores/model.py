import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

IGNORED = -1


class Tagger(nn.Module):
    def __init__(self, width, tags):
        super().__init__()
        self.head = nn.Linear(width, tags)
        self.criterion = nn.NLLLoss(ignore_index=IGNORED)

    def loss(self, hidden, sequences, others):
        labels = pad_sequence(sequences, batch_first=True, padding_value=-1)
        more = pad_sequence(others, batch_first=True, padding_value=-100)
        scores = self.head(hidden).transpose(1, 2)
        return self.criterion(scores.log_softmax(1), labels) + F.cross_entropy(scores, more)
