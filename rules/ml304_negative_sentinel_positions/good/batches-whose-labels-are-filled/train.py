import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


class Model(nn.Module):
    def __init__(self, vocab=1000, width=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, width, padding_idx=0)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids):
        return self.head(self.emb(ids))


def collate(items):
    ids = pad_sequence([torch.tensor(i["ids"]) for i in items], batch_first=True)
    labels = pad_sequence([torch.tensor(i["labels"]) for i in items], batch_first=True, padding_value=-100)
    return {"ids": ids, "labels": labels}


def train(data):
    model = Model()
    loss_fn = nn.CrossEntropyLoss()
    for batch in DataLoader(data, batch_size=8, collate_fn=collate):
        logits = model(batch["ids"])
        loss_fn(logits.flatten(0, 1), batch["labels"].flatten()).backward()


def collate_both(items):
    ids = pad_sequence([torch.tensor(i) for i in items], batch_first=True, padding_value=-100)
    return ids, ids != -100


def train_on_pairs(data):
    model = Model()
    loader = DataLoader(data, batch_size=8, collate_fn=collate_both)
    for ids, mask in loader:
        model(ids.masked_fill(~mask, 0)).sum().backward()


def train_on_tuples(data):
    model = Model()

    def pad(items):
        ids, labels = zip(*items)
        return pad_sequence(ids, True, 0), pad_sequence(labels, True, -100)

    for step, (ids, labels) in enumerate(DataLoader(data, collate_fn=pad)):
        loss = nn.functional.cross_entropy(model(ids).transpose(1, 2), labels)
        loss.backward()


def train_clamped(data):
    model = Model()
    for ids, mask in DataLoader(data, 4, collate_fn=collate_both):
        model(ids.clamp(min=0)).sum().backward()
