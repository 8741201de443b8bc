import torch
from torch import nn


class Average(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.weight = nn.Parameter(torch.zeros(width))
        with torch.no_grad():
            self.weight[0] = 1

    @torch.no_grad()
    def forward(self, x):
        scores = torch.sigmoid(self.proj(x))
        scores *= 2
        return scores


class Teacher(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    @torch.no_grad()
    def targets(self, x):
        return torch.softmax(self.proj(x), dim=-1)

    def forward(self, x):
        with torch.inference_mode():
            scores = torch.sigmoid(self.proj(x))
            scores += 1
        targets = self.targets(x)
        targets += 0.1
        return scores, targets
