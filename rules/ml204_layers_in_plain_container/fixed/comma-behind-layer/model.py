import torch
import torch.nn as nn


class Upsampler(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.ConvTranspose1d(  # expect: ML204
            width,
            width,
            kernel_size=4,
        )
        self.act = nn.GELU()  # expect: ML204

    def forward(self, x):
        return self.act(self.up(x))
