import torch
from torch import nn


def encode(batch):
    norm = nn.BatchNorm1d(16)
    codes = torch.zeros(batch, 16)
    return norm(codes)  # expect: ML501


def remember(steps):
    memory = nn.LSTM(input_size=80, hidden_size=20, batch_first=True)
    frames = torch.rand(2, steps, 80)
    return memory(frames)[0]  # expect: ML501
