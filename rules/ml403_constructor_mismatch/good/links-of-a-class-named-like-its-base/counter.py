from lightning.pytorch import LightningDataModule, LightningModule
from torch import nn


class Trunk(nn.Module):
    def __init__(self, width: int, size: int):
        super().__init__()
        self.layer = nn.Linear(size, width)


class Counter(LightningModule):
    def __init__(self, trunk: nn.Module, size: int, classes: int):
        super().__init__()
        self.trunk = trunk
        self.head = nn.Linear(size, classes)


class Digits(LightningDataModule):
    def __init__(self, size: int, classes: int = 10):
        super().__init__()
