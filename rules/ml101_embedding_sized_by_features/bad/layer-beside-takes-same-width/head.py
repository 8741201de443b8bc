from torch import nn


class Head(nn.Module):
    def __init__(self, n_mels=80, hidden=512):
        super().__init__()
        self.proj = nn.Sequential(nn.Linear(n_mels, hidden), nn.ReLU(), nn.Dropout(0.1))
        self.table = nn.Embedding(hidden, 256)  # expect: ML101

    def forward(self, mel):
        features = self.proj(mel)
        return self.table(features.long())
