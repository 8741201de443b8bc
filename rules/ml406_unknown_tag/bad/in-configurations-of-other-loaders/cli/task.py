from lightning.pytorch import LightningModule


class Task(LightningModule):
    def __init__(self, rate: float = 0.1):
        super().__init__()
