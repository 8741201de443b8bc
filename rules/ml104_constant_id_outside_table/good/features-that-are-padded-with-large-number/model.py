import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, width=64, vocab_size=10):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.proj = nn.Linear(80, width)

    def forward(self, mel, ids):
        mel = F.pad(mel, (0, 0, 0, 4), value=-11.5)
        scores = self.proj(mel).masked_fill(mel[..., :1] < 0, -1e4)
        return scores + self.embed(ids)
