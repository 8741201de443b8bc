import torch
from torch import nn


class Normalise(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1), persistent=False)  # expect: ML205
        self.proj = nn.Conv2d(3, 8, 3)

    def normalise(self, image: torch.Tensor):
        return image - self.mean

    def forward(self, image):
        return self.proj(self.normalise(image))
