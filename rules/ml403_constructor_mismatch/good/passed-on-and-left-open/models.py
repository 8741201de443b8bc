from lightning.pytorch import LightningModule
from lightning.pytorch.cli import OptimizerCallable


class Base(LightningModule):
    def __init__(self, logs_gradients: bool = False, rate: float = 0.1):
        super().__init__()


class Tagger(Base):
    def __init__(self, width: int, optimizer: OptimizerCallable, *args, **kwargs):
        super().__init__(*args, **kwargs)


class Reader(Base):
    def __init__(self, **kwargs):
        self.depth = kwargs.pop("depth", 1)
        self.width = kwargs.pop("width", 2)
        if self.width > self.depth:
            self.ratio = kwargs.pop("ratio", 0.5)
        self.names = kwargs.pop("names", None)
        super().__init__(rate=0.3, **kwargs)
