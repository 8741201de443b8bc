import torch
from torch import nn


class Encoding(nn.Module):
    def forward(self, ids):
        return self.positions(torch.arange(ids.size(1), device=ids.device))

    def describe(self):
        return f"{type(self).__name__} with {self.positions.num_embeddings} positions"
