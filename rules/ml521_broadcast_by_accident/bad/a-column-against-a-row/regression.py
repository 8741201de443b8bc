import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.hidden = nn.Linear(width, 64)
        self.value = nn.Linear(64, 1)

    def forward(self, states):
        batch, width = states.shape
        values = self.value(torch.relu(self.hidden(states)))
        returns = torch.zeros(batch)
        return F.mse_loss(values, returns)  # expect: ML521
