from torch import nn

from config import SpeechConfig


class Codec(nn.Module):
    def __init__(self, config: SpeechConfig):
        super().__init__()
        self.codebook = nn.Embedding(config.codebook_size, 8)

    def decode(self, codes):
        return self.codebook(codes).mean(-1)
