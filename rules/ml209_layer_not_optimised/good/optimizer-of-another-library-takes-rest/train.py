import torch
from torch import nn

from fused import FusedAdam


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids))[0])


model = Model(64, 10)
optimizer = torch.optim.AdamW([*model.encoder.parameters(), *model.head.parameters()])
others = FusedAdam(p for name, p in model.named_parameters() if "embed" in name)
