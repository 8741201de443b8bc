import torch
from torch import nn


class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Embedding(config.max_position_embeddings, config.hidden_size)

    def forward(self, ids):
        return self.words(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
