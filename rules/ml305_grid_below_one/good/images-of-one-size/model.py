import torch
from torch import nn
import torch.nn.functional as F


class PatchEmbedding(nn.Module):
    def __init__(self, patch=16, width=768):
        super().__init__()
        self.patch = patch
        self.project = nn.Linear(3 * patch * patch, width)

    def forward(self, x):
        batch, channels, height, width = x.shape
        rows, columns = height // self.patch, width // self.patch
        x = x.reshape(batch, channels, rows, self.patch, columns, self.patch)
        return self.project(x.permute(0, 2, 4, 1, 3, 5).flatten(3))

    def enlarged(self, x):
        height, width = x.shape[-2:]
        x = F.interpolate(x, size=(height // self.patch * self.patch, width // self.patch * self.patch))
        return self(x)


def patchify(images, patch):
    rows = images.shape[2] // patch
    return images.reshape(len(images), 3, rows, patch, rows, patch)
