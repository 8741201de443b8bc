import torch
from torch import nn


def warm_up(x):
    layer = nn.Linear(3, 3)
    layer(x)
    torch.matmul(x, x)
    torch.ones(3).to("cuda")


def serve(x):
    torch.zeros((2, 2)).cuda()
    return x
