import pytorch_lightning as pl
import torchmetrics
from torch import nn


class Classifier(pl.LightningModule):
    def __init__(self, width, classes):
        super().__init__()
        self.head = nn.Linear(width, classes)
        self.metrics = nn.ModuleList([  # expect: ML204
            torchmetrics.Accuracy(task="multiclass", num_classes=classes),
            torchmetrics.F1Score(task="multiclass", num_classes=classes),
        ])

    def training_step(self, batch, index):
        x, y = batch
        logits = self.head(x)
        for metric in self.metrics:
            metric(logits, y)
        return nn.functional.cross_entropy(logits, y)
