from lightning.pytorch import LightningModule
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width: int, depth: int = 2, act: str = "relu"):
        super().__init__()


class Tagger(LightningModule):
    def __init__(self, encoder: Encoder, classes: int = 4, name: str = "tagger"):
        super().__init__()
