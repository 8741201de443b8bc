from torch import nn


class Tagger(nn.Module):
    def __init__(self, n_mels, width, n_tags):
        super().__init__()
        self.proj = nn.Linear(n_mels, width)
        self.embed = nn.Embedding(n_tags, width)

    def forward(self, mel):
        features = self.proj(mel)
        return self.embed(features)  # expect: ML102
