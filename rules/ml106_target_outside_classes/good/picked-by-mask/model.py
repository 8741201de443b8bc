import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence


def loss(scores, sequences):
    labels = pad_sequence(sequences, batch_first=True, padding_value=-1)
    is_there = labels != -1
    return F.cross_entropy(scores[is_there], labels[is_there])
