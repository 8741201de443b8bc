import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader


class Tagger(L.LightningModule):
    def __init__(self, vocab=1000, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.head = nn.Linear(width, vocab)
        self.loss_of = nn.CrossEntropyLoss()

    def validation_step(self, batch, batch_idx):
        ids, labels = batch
        scores = self.head(self.embed(ids))
        return self.loss_of(scores.flatten(0, 1), labels.flatten())


def collate(items):
    longest = max(len(one) for one in items)
    ids = torch.tensor([one + [0] * (longest - len(one)) for one in items])
    labels = torch.tensor([one + [-1] * (longest - len(one)) for one in items])  # expect: ML106
    return ids, labels


if __name__ == "__main__":
    loader = DataLoader([[1, 2], [3]], collate_fn=collate)
    trainer = L.Trainer()
    trainer.fit(Tagger(), train_dataloaders=loader, val_dataloaders=loader)
