import pytorch_lightning as pl
import torch
from torch import nn


class Ranker(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(16, 1)

    def training_step(self, batch, batch_idx):
        better, worse = self.score(batch["better"]), self.score(batch["worse"])
        wrong = (better < worse).float().mean()
        return {"loss": wrong, "better": better.detach()}  # expect: ML704

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
