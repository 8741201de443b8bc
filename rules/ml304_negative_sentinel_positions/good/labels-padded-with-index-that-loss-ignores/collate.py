import torch
from torch.nn.utils.rnn import pad_sequence

IGNORE_INDEX = -100


def collate(rows):
    ids = pad_sequence([row["ids"] for row in rows], batch_first=True, padding_value=0)
    labels = pad_sequence([row["labels"] for row in rows], batch_first=True, padding_value=IGNORE_INDEX)
    labels = labels.masked_fill(labels == 0, IGNORE_INDEX)
    positions = torch.arange(ids.size(1)).expand_as(ids)
    return ids, labels, positions
