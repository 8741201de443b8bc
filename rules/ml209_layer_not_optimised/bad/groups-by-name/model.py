import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(80, width), nn.ReLU(), nn.Linear(width, width))
        self.neck = nn.Linear(width, width)  # expect: ML209
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.neck(self.backbone(x)))


def build(width):
    model = Model(width)
    slow, fast = [], []
    for name, parameter in model.named_parameters():
        if name.startswith("backbone."):
            slow.append(parameter)
        elif "head" in name:
            fast.append(parameter)
    return model, torch.optim.AdamW([{"params": slow, "lr": 1e-5}, {"params": fast}], lr=1e-3)
