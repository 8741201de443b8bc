import torch
from torch import nn

from features import Features


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Conv2d(3, width, 3)
        self.decoder = nn.ConvTranspose2d(width, 3, 3)
        self.features = Features()

    def forward(self, x):
        y = self.decoder(self.encoder(x))
        return (self.features(x) - self.features(y)).abs().mean()


model = Model(64)
optimizer = torch.optim.AdamW([*model.encoder.parameters(), *model.decoder.parameters()])
