from torch import nn


class Encoder(nn.Module):
    def __init__(self, input_dim, d_model, continuous=True):
        super().__init__()
        self.continuous = continuous
        if continuous:
            self.input_layer = nn.Linear(input_dim, d_model)
            self.input_norm = nn.LayerNorm(input_dim)
        else:
            self.input_layer = nn.Embedding(input_dim, d_model)

    def forward(self, x):
        return self.input_layer(x)


class Front(nn.Module):
    def __init__(self, input_dim, d_model, discrete):
        super().__init__()
        self.discrete = discrete
        self.embed = nn.Embedding(input_dim, d_model)
        self.proj = nn.Linear(input_dim, d_model)

    def forward(self, x):
        if self.discrete:
            return self.embed(x)
        return self.proj(x)
