import math

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 2)
        self.log_alpha = torch.tensor(math.log(0.01))
        self.log_alpha.requires_grad = True
        self.optimizer = torch.optim.Adam([self.log_alpha], lr=0.001)

    def train_alpha(self, state, wanted):
        entropy = self.head(state).log_softmax(1)
        loss = -(self.log_alpha.exp() * (entropy + wanted).detach()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
