import torch
from torch import nn

from config import Config


class Decoder(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.width, padding_idx=config.pad_id)

    def forward(self, ids):
        start = ids.new_full((ids.size(0), 1), self.config.bos_id)
        return self.embed(torch.cat([start, ids], dim=1))
