import torch
from torch import nn


class Scores(nn.Module):
    def __init__(self, width, is_scaled=False, is_pooled=False):
        super().__init__()
        self.is_pooled = is_pooled
        self.query = nn.Linear(width, width)
        self.scale = torch.tensor(width).sqrt() if is_scaled else 1.0
        self.floor = -1e9

    def forward(self, x, mask):
        floor = self.floor.to(x.device)  # expect: ML509
        if self.is_pooled:
            return x.mean(1)
        scores = self.query(x) @ x.transpose(1, 2)
        scores = scores / self.scale.to(x.device)  # expect: ML509
        return scores.masked_fill(mask, floor)


def train(model, batches, optimizer):
    count, total = len(batches), 0.0
    for x, mask in batches:
        loss = model(x, mask).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
    return total / count.float()  # expect: ML509
