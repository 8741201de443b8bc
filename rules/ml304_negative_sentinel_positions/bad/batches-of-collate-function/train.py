import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from model import Tagger


def collate(items):
    ids = pad_sequence([torch.tensor(one["ids"]) for one in items], batch_first=True, padding_value=-100)  # expect: ML304
    labels = pad_sequence([torch.tensor(one["labels"]) for one in items], batch_first=True, padding_value=-100)
    return {"ids": ids, "labels": labels}


class Collate:
    def __call__(self, items):
        longest = max(len(one) for one in items)
        ids = torch.full((len(items), longest), -100)  # expect: ML304
        for row, one in enumerate(items):
            ids[row, : len(one)] = torch.tensor(one)
        return ids, ids


def train(data):
    model, loss_of = Tagger(), nn.CrossEntropyLoss(ignore_index=-100)
    loader = DataLoader(data, batch_size=8, collate_fn=collate)
    for batch in loader:
        loss_of(model(batch["ids"]).flatten(0, 1), batch["labels"].flatten()).backward()


def pretrain(data):
    model, loss_of = Tagger(), nn.CrossEntropyLoss(ignore_index=-100)
    for step, (ids, targets) in enumerate(DataLoader(data, 8, collate_fn=Collate())):
        loss_of(model(ids.cuda()).transpose(1, 2), targets.cuda()).backward()
