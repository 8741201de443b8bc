import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)
        self.loss = nn.MSELoss()

    def forward(self, x):
        n, _ = x.shape
        values, target = self.fc(x), torch.zeros(n)
        return self.loss(values.squeeze(1), target) + F.l1_loss(values, target.unsqueeze(1))

    def flat(self, x):
        n, _ = x.shape
        return F.mse_loss(self.fc(x).view(-1), torch.zeros(n)) + F.mse_loss(self.fc(x)[:, 0], torch.ones(n))
