import torch
from torch import nn


class Stem(nn.Module):
    def __init__(self, width, channels_last=False):
        super().__init__()
        self.channels_last = channels_last
        self.conv = nn.Conv2d(3, width, 3)

    def forward(self, images):
        if self.channels_last:
            images.contiguous(memory_format=torch.channels_last)  # expect: ML507
        return self.conv(images)


def in_other_order(images):
    images.contiguous(memory_format=torch.channels_last)  # expect: ML507
    return images
