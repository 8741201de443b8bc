from lightning.pytorch import LightningModule
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width: int):
        super().__init__()


class Tagger(LightningModule):
    def __init__(self, encoder=None, classes: int = 4):
        super().__init__()
