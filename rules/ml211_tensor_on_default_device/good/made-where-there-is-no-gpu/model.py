import torch
from torch import nn


class BoxLoss(nn.Module):
    def forward(self, boxes, targets):
        losses = []
        for box, target in zip(boxes, targets):
            if target.numel():
                losses.append((box - target).abs().mean())
            elif torch.cuda.is_available():
                losses.append(torch.zeros(1, 1).mean(0).cuda())
            else:
                losses.append(torch.zeros(1, 1).mean(0))
        return torch.stack(losses).mean()


class Shifted(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        has_gpu = torch.cuda.is_available()
        shift = torch.ones(x.size(1)).cuda() if has_gpu else torch.ones(x.size(1))
        return self.lin(x) + shift


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def scale(self, x):
        if not torch.cuda.is_available() and x.dim() > 1:
            return torch.ones(x.size(1))
        return torch.ones(x.size(1), device="cuda")

    def forward(self, x):
        return self.lin(x) * self.scale(x)
