import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.base = nn.Linear(80, width)
        self.adapter = nn.Linear(width, width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.adapter(self.base(x)))


def build(width):
    model = Model(width)
    head = [p for n, p in model.named_parameters() if n.startswith("head")]
    others = [p for n, p in model.named_parameters() if not n.startswith(("head", "base"))]
    return model, torch.optim.AdamW([{"params": head, "lr": 1e-2}, {"params": others}], lr=1e-3)


def build_small(width):
    model = Model(width)
    chosen = [p for n, p in model.named_parameters() if "adapter" in n or "head" in n]
    return model, torch.optim.AdamW(chosen, lr=1e-3)
