from torch import nn


class Config:
    input_dim: int = 1583
    d_model: int = 256


class Encoder(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.table = nn.Embedding(cfg.input_dim, cfg.d_model)  # expect: ML101

    def forward(self, x):
        # x: (N, T, input_dim)
        return self.table(x)
