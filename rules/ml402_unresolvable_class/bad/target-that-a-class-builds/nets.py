from torch import nn

from util import build


class UNet(nn.Module):
    def __init__(self, channels, depth, dropout=0.0):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Conv2d(channels, channels, 3) for _ in range(depth))
        self.dropout = nn.Dropout(dropout)


class Diffusion(nn.Module):
    def __init__(self, unet_config, timesteps=1000, lossconfig=None):
        super().__init__()
        self.unet = build(unet_config)
        self.timesteps = timesteps
