import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(80, width), nn.ReLU(), nn.Linear(width, width))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.norm(self.backbone(x)))


def build(width):
    model = Model(width)
    undecayed = ["bias", "norm.weight"]
    groups = [
        {"params": [p for n, p in model.named_parameters() if not any(key in n for key in undecayed)]},
        {"params": [p for n, p in model.named_parameters() if any(key in n for key in undecayed)], "weight_decay": 0.0},
    ]
    return model, torch.optim.AdamW(groups, lr=1e-3)


def build_by_parts(width):
    model = Model(width)
    backbone = [p for n, p in model.named_parameters() if n.split(".")[0] == "backbone"]
    norm = [p for n, p in model.named_parameters() if n in ("norm.weight", "norm.bias")]
    head = [p for n, p in model.named_parameters() if n.startswith("head")]
    return model, torch.optim.Adam([{"params": backbone, "lr": 1e-5}, {"params": norm}, {"params": head}], lr=1e-3)
