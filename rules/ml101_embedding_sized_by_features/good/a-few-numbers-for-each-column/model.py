from torch import nn


class Tagger(nn.Module):
    def __init__(self, config):
        super().__init__()
        embed_dim = config.vocab_size + 1
        self.embed = nn.Embedding(embed_dim, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size)

    def forward(self, input_ids):
        return self.norm(self.embed(input_ids))
