from torch import nn

from config import DecoderConfig


class Decoder(nn.Module):
    def __init__(self, config: DecoderConfig):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.hidden_size, config.hidden_size)  # expect: ML101
        self.up = nn.Linear(config.hidden_size, 4 * config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size)

    def forward(self, input_ids):
        return self.up(self.norm(self.embed_tokens(input_ids)))


class RecurrentDecoder(nn.Module):
    def __init__(self, config: DecoderConfig):
        super().__init__()
        self.embed = nn.Embedding(config.hidden_size, config.hidden_size)  # expect: ML101
        self.rnn = nn.GRU(config.hidden_size, config.hidden_size)
        self.head = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


class Codec(nn.Module):
    def __init__(self, config: DecoderConfig, codebook_size):
        super().__init__()
        self.codes = nn.Embedding(codebook_size, config.hidden_size)  # expect: ML101
        self.decoder = Decoder(config)

    def forward(self, ids):
        return self.decoder.norm(self.codes(ids))
