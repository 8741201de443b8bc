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
    ids, labels, marks = [], [], []
    for one in items:
        missing = longest - len(one["ids"])
        ids.append(one["ids"] + [0] * missing)
        labels.append(one["labels"] + [-100] * missing)
        marks.append(one["labels"] + [-1] * missing)
    return {"ids": torch.tensor(ids), "labels": torch.tensor(labels), "marks": torch.tensor(marks)}


def train(data):
    model = Tagger()
    for batch in DataLoader(data, 8, collate_fn=collate):
        scores = model(batch["ids"]).flatten(0, 1)
        loss = F.cross_entropy(scores, batch["labels"].flatten())
        (loss + F.cross_entropy(scores, batch["marks"].flatten(), ignore_index=-1)).backward()
