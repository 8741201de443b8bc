import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence


def loss(scores, sequences, lengths):
    labels = pad_sequence(sequences, batch_first=True, padding_value=-1)
    is_there = torch.arange(labels.shape[1])[None] < lengths[:, None]
    return F.cross_entropy(scores[is_there], labels[is_there])
