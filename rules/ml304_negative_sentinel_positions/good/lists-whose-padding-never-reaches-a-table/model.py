import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


class Tagger(nn.Module):
    def __init__(self, vocab=1000, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids):
        return self.head(self.embed(ids))


def pad(ids, length, value):
    return ids + [value] * (length - len(ids))


def collate(items):
    longest = max(len(one["ids"]) for one in items)
    ids, labels = [], []
    for one in items:
        missing = longest - len(one["ids"])
        ids.append(one["ids"] + [0] * missing)
        labels.append(one["labels"] + [-100] * missing)
    return {"ids": torch.tensor(ids), "labels": torch.tensor(labels)}


def collate_by_helper(items):
    longest = max(len(one["ids"]) for one in items)
    ids = torch.tensor([pad(one["ids"], longest, 0) for one in items], dtype=torch.long)
    return {"ids": ids, "labels": torch.tensor([pad(one["labels"], longest, -100) for one in items])}


def train(data):
    model = Tagger()
    for batch in DataLoader(data, 8, collate_fn=collate):
        F.cross_entropy(model(batch["ids"]).flatten(0, 1), batch["labels"].flatten()).backward()
    for batch in DataLoader(data, 8, collate_fn=collate_by_helper):
        F.cross_entropy(model(batch["ids"]).flatten(0, 1), batch["labels"].flatten()).backward()


def of_labels(rows, length):
    model = Tagger()
    labels = torch.tensor([one + [-100] * (length - len(one)) for one in rows])
    ids = labels.masked_fill(labels == -100, 0)
    return F.cross_entropy(model(ids).flatten(0, 1), labels.flatten()) + model(labels.clamp(min=0)).sum()


def of_marks(rows, length):
    kept = torch.tensor([[1] * len(one) + [-100] * (length - len(one)) for one in rows])
    ids = torch.tensor([one + [0] * (length - len(one)) for one in rows])
    return Tagger()(ids) * kept[..., None]


def without_marks(rows, length):
    model = Tagger()
    labels = [one + [-100] * (length - len(one)) for one in rows]
    first = model(torch.tensor([[i for i in one if i != -100] for one in labels]))
    second = model(torch.tensor([[0 if i == -100 else i for i in one] for one in labels]))
    third = model(torch.tensor([[max(i, 0) for i in one] for one in labels]))
    return first, second, third, model(torch.tensor([list(filter(lambda i: i != -100, one)) for one in labels]))


def in_a_loop(rows, length):
    out = []
    for one in rows:
        one = one + [-100] * (length - len(one))
        kept = []
        for i in one:
            if i != -100:
                kept.append(i)
        out.append(kept)
    return Tagger()(torch.tensor(out))


def cut_to_length(rows, length):
    model = Tagger()
    labels = [one + [-100] * (length - len(one)) for one in rows]
    for label, row in zip(labels, rows):
        model(torch.tensor(label[: len(row)]))


class Views(nn.Module):
    def __init__(self, vocab=1000, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)

    def forward(self, ids, signs):
        shape = list(ids.shape) + [-1] * 2
        weights = torch.tensor([1.0] + [-100.0] * 3, device=ids.device)
        return self.embed(ids.reshape(*shape[:2], -1)) + weights.sum()
