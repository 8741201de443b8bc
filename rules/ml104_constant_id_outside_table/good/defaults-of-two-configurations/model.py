from torch import nn

from config import SpeechConfig, TextConfig


class Text(nn.Module):
    def __init__(self, config: TextConfig, width):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, width)


class Speech(Text):
    def __init__(self, config: SpeechConfig, width):
        super().__init__(config, width)
        self.config = config

    def forward(self, ids, mask):
        return self.embed(ids.masked_fill(mask, self.config.mask_id))
