import pytorch_lightning as pl
import torch
import torchmetrics
from torch import nn


class Classifier(pl.LightningModule):
    def __init__(self, width, classes):
        super().__init__()
        device = torch.device("cuda:0")
        self.head = nn.Linear(width, classes)
        self.losses = {phase: torchmetrics.MeanMetric().to(device) for phase in ("train", "val")}
        self.means = {"train": torchmetrics.MeanMetric(), "val": torchmetrics.MeanMetric()}

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self.head(x), y)
        self.losses["train"].update(loss)
        self.means["train"].cpu().update(loss.detach().cpu())
        return loss
