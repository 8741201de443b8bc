from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer_norm = nn.LayerNorm(width)
        self.proj = nn.Linear(width, width)

    def forward(self, sequence):
        sequence = self.proj(sequence)
        self.layer_norm(sequence)  # expect: ML507
        return sequence
