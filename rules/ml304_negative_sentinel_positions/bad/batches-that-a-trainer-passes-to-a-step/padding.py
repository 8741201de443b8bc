import torch
from torch.nn.utils.rnn import pad_sequence


def collate(items):
    ids = pad_sequence([torch.tensor(one["ids"]) for one in items], batch_first=True, padding_value=-100)  # expect: ML304
    labels = pad_sequence([torch.tensor(one["labels"]) for one in items], batch_first=True, padding_value=-100)
    return {"ids": ids, "labels": labels}
