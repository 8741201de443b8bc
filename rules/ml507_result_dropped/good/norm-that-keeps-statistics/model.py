from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)

    def calibrate(self, batches):
        for batch in batches:
            self.norm(batch)
