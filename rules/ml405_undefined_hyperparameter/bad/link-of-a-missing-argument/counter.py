from lightning.pytorch import LightningDataModule, LightningModule


class Counter(LightningModule):
    def __init__(self, width: int = 3, classes: int = 4):
        super().__init__()


class Digits(LightningDataModule):
    def __init__(self, batch_size: int = 8, classes: int = 10):
        super().__init__()
