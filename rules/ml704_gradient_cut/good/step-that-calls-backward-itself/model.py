import lightning as L
import torch
from torch import nn


class Players(L.LightningModule):
    """Two players with optimizers of their own: what the step returns is only shown."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.first, self.second = nn.Linear(4, 1), nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        optimizer, _ = self.optimizers()
        loss = (self.first(batch) - self.second(batch)).square().mean()
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()
        return loss.detach()

    def configure_optimizers(self):
        return torch.optim.SGD(self.first.parameters(), 0.1), torch.optim.SGD(self.second.parameters(), 0.1)
