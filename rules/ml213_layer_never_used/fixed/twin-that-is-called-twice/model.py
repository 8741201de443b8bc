import torch
from torch import nn


class Recommender(nn.Module):
    def __init__(self, users, items, width):
        super().__init__()
        self.users = nn.Embedding(users, width)
        self.items = nn.Embedding(items, width)
        self.dense_layer_u = nn.Linear(width, width)
        self.dense_layer_i = nn.Linear(width, width)  # expect: ML213

    def forward(self, user, item):
        user_part = self.dense_layer_u(self.users(user))
        item_part = self.dense_layer_i(self.items(item))
        return torch.sum(user_part * item_part, dim=-1)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)  # expect: ML213
        self.mix = nn.Linear(width, width)

    def forward(self, x1, x2):
        return self.mix(self.norm1(x1)) + self.norm2(x2)
