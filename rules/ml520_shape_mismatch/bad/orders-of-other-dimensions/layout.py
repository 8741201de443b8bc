import torch
from torch import nn


class Frames(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(80, 256, 3, padding=1)

    def forward(self, spectrogram):
        x = self.conv(spectrogram)  # reveal: [spectrogram_0, 256, spectrogram_2] float32
        return x.permute(0, 2, 3, 1)  # expect: ML520


def channels_last():
    image = torch.zeros(3, 224, 224)
    return image.permute(0, 2, 3, 1).numpy()  # expect: ML520


def turned():
    batch = torch.randn(5, 8)
    return batch.transpose(1, 2)  # expect: ML520
