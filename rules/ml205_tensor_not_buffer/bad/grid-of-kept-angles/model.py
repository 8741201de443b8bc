import torch
import torch.nn.functional as F
from torch import nn


class Turn(nn.Module):
    def __init__(self):
        super().__init__()
        self.theta = torch.eye(2, 3)[None]  # expect: ML205

    def forward(self, image):
        return F.grid_sample(image, F.affine_grid(self.theta.repeat(len(image), 1, 1), image.shape))
