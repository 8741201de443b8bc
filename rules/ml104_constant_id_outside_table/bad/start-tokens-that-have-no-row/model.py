import torch
from torch import nn

from config import Config


class Decoder(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.width)  # expect: ML104
        self.rnn = nn.GRU(config.width, config.width)

    def forward(self, ids):
        start = torch.full((ids.size(0), 1), self.config.bos_id)
        return self.rnn(self.embed(torch.cat([start, ids], dim=1)))
