from lightning.pytorch import LightningModule
from torch import nn


class Counter(LightningModule):
    def __init__(self, width: int, rate: float = 0.1):
        super().__init__()
        self.head = nn.Linear(width, 10)
        self.rate = rate
