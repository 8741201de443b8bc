import pytorch_lightning as pl
from torch import nn

try:
    from fast import Module
except ImportError:
    from torch.nn import Module


class Trained(pl.LightningModule):
    def training_step(self, batch, index):
        self.log("loss", self.trainer.current_epoch)
        return self.hparams.width


class Fast(Module):
    def forward(self, x):
        return self.fused(x)


class Parsed(nn.Module):
    def __getattr__(self, name):
        return name

    def forward(self, x):
        return self.anything
