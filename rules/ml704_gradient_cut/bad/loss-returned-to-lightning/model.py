import lightning as L
import torch
from torch import nn
from torch.nn import functional as F


class Counter(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 6))

    def forward(self, images):
        return self.net(images)

    def training_step(self, batch, batch_idx):
        images, counts = batch
        predicted = self(images).argmax(dim=-1)
        loss = F.mse_loss(predicted.float(), counts.float())  # expect: ML704
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
