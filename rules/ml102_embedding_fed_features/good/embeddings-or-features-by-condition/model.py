from torch import nn


class Encoder(nn.Module):
    def __init__(self, n_feats, vocab_size, width, is_text):
        super().__init__()
        self.is_text = is_text
        self.norm = nn.LayerNorm(n_feats)
        self.front = nn.Embedding(vocab_size, width) if is_text else nn.Linear(n_feats, width)

    def forward(self, x):
        if not self.is_text:
            x = self.norm(x)
        return self.front(x)
