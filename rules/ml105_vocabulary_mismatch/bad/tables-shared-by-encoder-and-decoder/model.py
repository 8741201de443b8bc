from torch import nn


class Encoder(nn.Module):
    def __init__(self, n_tokens, width):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, width)  # expect: ML105


class Translator(nn.Module):
    def __init__(self, n_tokens, width):
        super().__init__()
        self.encoder = Encoder(n_tokens, width)
        self.embed = nn.Embedding(n_tokens + 2, width)
        self.encoder.embed.weight = self.embed.weight
