import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


class Data(pl.LightningDataModule):
    padding = 0

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def train_dataloader(self):
        return DataLoader(self.rows, batch_size=8, collate_fn=self.collate)

    def collate(self, items):
        ids = pad_sequence([torch.tensor(one["ids"]) for one in items], batch_first=True, padding_value=0)
        labels = pad_sequence([torch.tensor(one["labels"]) for one in items], batch_first=True, padding_value=-100)
        return {"ids": ids, "labels": labels}


class Marked(pl.LightningDataModule):
    def train_dataloader(self):
        return DataLoader([], batch_size=8, collate_fn=collate_with_marks)


class Cleaned(Marked):
    def on_after_batch_transfer(self, batch, dataloader_idx):
        return {"ids": batch["ids"].clamp(min=0), "labels": batch["labels"]}


def collate_with_marks(items):
    ids = pad_sequence([torch.tensor(one["ids"]) for one in items], batch_first=True, padding_value=-100)
    labels = pad_sequence([torch.tensor(one["labels"]) for one in items], batch_first=True, padding_value=-100)
    return {"ids": ids, "labels": labels}


class Tagger(pl.LightningModule):
    def __init__(self, vocab=1000, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.head = nn.Linear(width, vocab)

    def training_step(self, batch, batch_idx):
        return F.cross_entropy(self.head(self.embed(batch["ids"])).flatten(0, 1), batch["labels"].flatten())


class Masking(pl.LightningModule):
    def __init__(self, vocab=1000, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.head = nn.Linear(width, vocab)

    def training_step(self, batch, batch_idx):
        ids = batch["ids"].masked_fill(batch["ids"] == -100, 0)
        return F.cross_entropy(self.head(self.embed(ids)).flatten(0, 1), batch["labels"].flatten())


def main(rows):
    trainer = pl.Trainer(max_epochs=1)
    trainer.fit(Tagger(), datamodule=Data(rows))
    trainer.fit(Tagger(), datamodule=Cleaned())
    trainer.fit(Masking(), datamodule=Marked())
