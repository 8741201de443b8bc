import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


class Tagger(nn.Module):
    def __init__(self, vocab=1000, width=64, classes=10):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        return self.head(self.embed(ids))


def collate(items):
    longest = max(len(one["ids"]) for one in items)
    ids, labels = [], []
    for one in items:
        missing = longest - len(one["ids"])
        ids.append(one["ids"] + [0] * missing)
        labels.append(one["labels"] + [-1] * missing)  # expect: ML106
    return {"ids": torch.tensor(ids), "labels": torch.tensor(labels)}


def train(data):
    model = Tagger()
    for batch in DataLoader(data, 8, collate_fn=collate):
        F.cross_entropy(model(batch["ids"]).flatten(0, 1), batch["labels"].flatten()).backward()


def loss_of_void(rows, labels, length):
    scores = Tagger()(rows)
    padded = []
    for one in labels:
        padded.append(torch.tensor(one + [10] * (length - len(one))))  # expect: ML106
    return F.cross_entropy(scores.flatten(0, 1), torch.stack(padded).flatten())
