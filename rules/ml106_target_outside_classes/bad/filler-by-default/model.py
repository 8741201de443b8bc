import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence


def loss(scores, labels, value=-1):
    return F.cross_entropy(scores, joined(labels))


def joined(labels, value=-1):
    return pad_sequence(labels, batch_first=True, padding_value=value)  # expect: ML106


def filled(labels, value):
    return pad_sequence(labels, batch_first=True, padding_value=value)  # expect: ML106


def other_loss(scores, labels):
    return F.cross_entropy(scores, filled(labels, -2))
