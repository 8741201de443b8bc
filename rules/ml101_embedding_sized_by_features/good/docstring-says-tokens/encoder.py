from torch import nn


class TextEncoder(nn.Module):
    """input_dim: number of phone tokens; width: width of the model"""

    def __init__(self, input_dim, width):
        super().__init__()
        self.embed = nn.Embedding(input_dim, width)
        self.one_hot = nn.Linear(input_dim, width)
        self.norm = nn.LayerNorm(input_dim)

    def forward(self, phones, counts):
        return self.embed(phones) + self.one_hot(self.norm(counts))
