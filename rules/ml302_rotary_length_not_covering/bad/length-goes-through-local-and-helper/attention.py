import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def tables(self, length, device):
        angles = torch.arange(length, device=device)[:, None] / 10000.0 ** (torch.arange(self.dim) / self.dim)
        return torch.cos(angles), torch.sin(angles)

    def forward(self, hidden, positions, kept=None):
        length = hidden.shape[1]
        cos, sin = self.tables(length, hidden.device)  # expect: ML302
        keys = hidden * cos[positions] + hidden.flip(-1) * sin[positions]
        if kept is not None:
            keys = torch.cat([kept, keys], dim=1)
        return keys
