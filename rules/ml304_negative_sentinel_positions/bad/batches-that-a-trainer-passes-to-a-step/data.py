import pytorch_lightning as pl
from torch.utils.data import DataLoader

from padding import collate


class Data(pl.LightningDataModule):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def train_dataloader(self):
        return DataLoader(self.rows, batch_size=8, collate_fn=collate)
