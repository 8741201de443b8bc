from torch import nn


class SpeechEncoder(nn.Module):
    def __init__(self, n_mels, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_mels, width), nn.GELU())
        self.norm = nn.LayerNorm(width)

    def forward(self, mel):
        return self.norm(self.layers(mel))
