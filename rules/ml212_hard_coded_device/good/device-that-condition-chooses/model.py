import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        device = "cuda" if torch.cuda.is_available() else "cpu"
        self.proj = nn.Linear(width, width, device=device)
        self.norm = nn.LayerNorm(width).to(DEVICE)
        if torch.cuda.is_available():
            self.proj = self.proj.cuda()

    def forward(self, x, device=None):
        return self.proj(x) + torch.ones(3, device=device or "cuda")
