import pytorch_lightning as pl
from layers import Waves


class System(pl.LightningModule):
    def __init__(self, width=64, longest=300):
        super().__init__()
        self.source = Waves(width, max_len=longest)
        self.target = Waves(width)

    def forward(self, source, target):
        return self.source(source), self.target(target)
