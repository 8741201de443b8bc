import pytorch_lightning as pl
import torch


class Trained(pl.LightningModule):
    def training_step(self, batch, index):
        x, y = batch
        y = torch.tensor(y).cuda(non_blocking=True)  # expect: ML212
        return self.compute(x, y)

    def compute(self, x, y):
        weights = torch.cuda.FloatTensor([1.0, 2.0])  # expect: ML212
        return (x * weights - y).mean()
