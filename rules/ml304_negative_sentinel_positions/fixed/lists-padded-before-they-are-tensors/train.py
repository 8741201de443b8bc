import torch
from torch import nn
from torch.utils.data import DataLoader

from model import Tagger


def pad(ids, length, value):
    return ids + [value] * (length - len(ids))  # expect: ML304


def collate(items):
    longest = max(len(one["ids"]) for one in items)
    return torch.tensor([pad(one["ids"], longest, -100) for one in items], dtype=torch.long)


def collate_pairs(items):
    longest = max(len(one["ids"]) for one in items)
    ids, labels = [], []
    for one in items:
        missing = longest - len(one["ids"])
        ids.append(one["ids"] + [0] * missing)  # expect: ML304
        labels.append(one["labels"] + [-100] * missing)
    return {"ids": torch.tensor(ids), "labels": torch.tensor(labels)}


def train(data):
    model, loss_of = Tagger(), nn.CrossEntropyLoss()
    for batch in DataLoader(data, 8, collate_fn=collate_pairs):
        loss_of(model(batch["ids"]).flatten(0, 1), batch["labels"].flatten()).backward()


def pretrain(data):
    model = Tagger()
    for ids in DataLoader(data, 8, collate_fn=collate):
        model(ids).sum().backward()
