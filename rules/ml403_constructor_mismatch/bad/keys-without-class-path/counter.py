from lightning.pytorch import LightningDataModule, LightningModule


class Counter(LightningModule):
    def __init__(self, width: int, classes: int, rate: float = 0.1):
        super().__init__()


class Digits(LightningDataModule):
    def __init__(self, folder: str = "data", batch_size: int = 8):
        super().__init__()
