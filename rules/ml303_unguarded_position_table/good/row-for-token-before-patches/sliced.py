import torch
from einops import rearrange, repeat
from torch import nn


class Vision(nn.Module):
    def __init__(self, height, breadth, patch_size, width, channels=3):
        super().__init__()
        rows, columns = height // patch_size, breadth // patch_size
        self.patch_size = patch_size
        self.embed = nn.Linear(channels * patch_size**2, width)
        self.positions = nn.Parameter(torch.randn(1, rows * columns + 1, width))
        self.token = nn.Parameter(torch.randn(1, 1, width))

    def forward(self, image):
        x = rearrange(image, "b c (h p) (w q) -> b (h w) (p q c)", p=self.patch_size, q=self.patch_size)
        x = self.embed(x)
        batch, count, _ = x.shape
        x = torch.cat((repeat(self.token, "1 1 d -> b 1 d", b=batch), x), dim=1)
        return x + self.positions[:, : count + 1]
