from torch import nn

from config import EncoderConfig


class ContentEncoder(nn.Module):
    def __init__(self, cfg: EncoderConfig):
        super().__init__()
        self.input_layer = nn.Embedding(cfg.input_dim, cfg.d_model)  # expect: ML101

    def forward(self, x):
        """x: (N, T, input_dim)"""
        return self.input_layer(x)
