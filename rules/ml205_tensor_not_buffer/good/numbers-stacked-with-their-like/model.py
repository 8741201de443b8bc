import torch
from torch import nn


class Losses(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.alpha = torch.tensor(0.5)
        self.beta = torch.tensor(0.5)

    def forward(self, x):
        alpha, beta = torch.stack([self.alpha, self.beta]).tolist()
        loss = self.lin(x).mean() * self.alpha
        return torch.stack([alpha * loss, beta * loss, self.beta.to(x.device)])

    def evaluate(self, batches):
        found = [self.alpha]
        for batch in batches:
            found.append(self(batch).mean().cpu())
        return torch.stack(found)
