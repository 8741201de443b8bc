from torch import nn
from torch.optim import SGD


class Codec(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Conv1d(1, width, 7)
        self.bottleneck = nn.Linear(width, 8)  # expect: ML209
        self.decoder = nn.ConvTranspose1d(8, 1, 7)

    def forward(self, x):
        return self.decoder(self.bottleneck(self.encoder(x).mT).mT)


def optimizer_for(codec: Codec):
    return SGD(list(codec.encoder.parameters()) + list(codec.decoder.parameters()), lr=0.1)
