import lightning as L
import torch
from somewhere import contrastive_loss
from torch import nn
from torch.nn import functional as F


class Pairs(L.LightningModule):
    def __init__(self, teacher):
        super().__init__()
        self.student = nn.Linear(8, 8)
        self.teacher = teacher

    def training_step(self, batch, batch_idx):
        with torch.no_grad():
            wanted = self.teacher(batch)
        loss = F.mse_loss(self.student(batch), wanted)
        accuracy = (wanted.argmax(-1) == batch.argmax(-1)).float().mean()
        self.log("accuracy", accuracy)
        if batch.shape[0] < 2:
            return None
        return loss + contrastive_loss(batch, accuracy)

    def validation_step(self, batch, batch_idx):
        return (self.student(batch).argmax(-1) == batch.argmax(-1)).float().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.student.parameters(), 0.1)
