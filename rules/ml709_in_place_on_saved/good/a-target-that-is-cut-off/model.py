import torch
from torch import nn


def update(batch, reward):
    actor = nn.Sequential(nn.Linear(8, 2), nn.Tanh())
    critic = nn.Linear(8, 1)
    action = actor(batch)
    action += torch.randn(2)
    best = critic(torch.cat([batch, action], dim=1)[:, :8])
    target = reward + 0.9 * best
    loss = nn.functional.mse_loss(critic(batch), target.detach())
    loss.backward()
    return loss
