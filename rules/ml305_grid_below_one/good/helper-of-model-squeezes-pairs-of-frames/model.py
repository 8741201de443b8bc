from torch import nn


def squeeze(x, frames=2):
    batch, channels, length = x.size()
    length = (length // frames) * frames
    x = x[:, :, :length]
    return x.view(batch, channels, length // frames, frames)


class Decoder(nn.Module):
    def forward(self, x):
        return squeeze(x)
