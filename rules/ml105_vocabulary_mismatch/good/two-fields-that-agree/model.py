from torch import nn

from config import Config


class Translator(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.source = nn.Embedding(config.source_tokens, config.width)
        self.target = nn.Embedding(config.target_tokens, config.width)
        if config.share:
            self.source.weight = self.target.weight
