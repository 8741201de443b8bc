import torch
from torch import nn


class PatchEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 192, kernel_size=16, stride=16)
        self.positions = nn.Parameter(torch.zeros(1, 196, 192))
        self.register_buffer("weights", torch.ones(64))

    def forward(self, images):
        tokens = self.patches(images).flatten(2)  # reveal: [images_0, 192, (images_2 // 16) * (images_3 // 16)] float32
        return tokens + self.positions  # expect: ML520

    def weighted(self, images):
        return self.patches(images) * self.weights.view(1, 64, 1, 1)  # expect: ML520


def masked_scores():
    scores = torch.randn(4, 8, 12, 10)  # reveal: [4, 8, 12, 10] float32
    mask = torch.ones(4, 12).bool()  # reveal: [4, 12] bool
    return scores.masked_fill(mask[:, None, :, None].transpose(2, 3), -1e9)  # expect: ML520
