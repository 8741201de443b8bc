import torch
from torch import nn


class Memory(nn.Module):
    def forward(self, chunks: list[torch.Tensor], x: torch.Tensor):
        kept = torch.empty(0)
        last = torch.tensor([])
        for chunk in chunks:
            kept = torch.cat([kept, chunk]) if kept.numel() else chunk
            last = chunk
        return torch.cat([last, x])
