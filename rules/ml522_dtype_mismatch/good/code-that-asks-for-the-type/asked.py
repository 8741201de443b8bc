import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, is_discrete: bool):
        super().__init__()
        self.table = nn.Embedding(8, 4)
        self.fc = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4) if is_discrete else nn.Identity()

    def forward(self, x):
        places = torch.arange(4)
        if places.dtype == torch.float32:
            return self.fc(places)
        if torch.is_floating_point(x):
            return self.fc(x)
        return self.table(x.long()) + self.norm(self.table(places))
