import torch
import torch.nn.functional as F
from torch import nn


class Gate(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.score = nn.Linear(width, 1)
        self.normalise = nn.Softmax(dim=-1)

    def forward(self, x):
        return self.normalise(self.score(x))  # expect: ML521

    def logs(self, x):
        return F.log_softmax(self.score(x), dim=-1)  # expect: ML521

    def chosen(self, x):
        rows, _ = x.shape
        return torch.argmax(self.score(x), dim=1)  # expect: ML521
