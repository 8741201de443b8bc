from torch import nn


class Decoder(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.embed_tokens = nn.Embedding(d_model, vocab_size)  # expect: ML101
        self.norm = nn.LayerNorm(d_model)

    def forward(self, input_ids):
        return self.norm(self.embed_tokens(input_ids))
