from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)  # expect: ML213
        self.init_weights()

    def init_weights(self):
        nn.init.zeros_(self.norm.bias)
        self.proj.reset_parameters()

    def restart(self):
        self.init_weights()

    def forward(self, x):
        if x.dim() != 3:
            raise NotImplementedError("three dimensions are needed")
        return self.proj(x)
