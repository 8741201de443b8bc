from __future__ import annotations

from typing import Dict, List, Optional

from torch import nn


class Head(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x)


class Heads(nn.Module):
    def __init__(self, heads: Dict[str, Head], layers: Optional[List[nn.Module]], more: list[Head]):
        super().__init__()
        self.heads = heads  # expect: ML204
        self.layers = list(layers or ())  # expect: ML204
        self.more = tuple(more)  # expect: ML204

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        for head in self.more:
            x = head(x)
        return {name: head(x) for name, head in self.heads.items()}
