import torch
from torch import nn


class Losses(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        total, weights = torch.tensor(0.0), torch.stack([torch.tensor(0.5), torch.tensor(2.0)]).tolist()
        total = total + self.lin(x).mean() * weights[0]
        return torch.stack([total, torch.tensor(0.0).to(x.device), torch.tensor(0.0) * x.mean()])
