from torch import nn


class Encoder(nn.Module):
    def __init__(self, config, padding_idx=None):
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.width, padding_idx=config.pad_token_id)
        self.types = nn.Embedding(2, config.width, padding_idx)

    def forward(self, ids, types):
        return self.words(ids) + self.types(types)
