import torch.nn.functional as F
from torch import nn


class Feedback(nn.Module):
    def __init__(self, width, vocab_size):
        super().__init__()
        self.head = nn.Linear(width, vocab_size)
        self.embed = nn.Embedding(2 * vocab_size, width)

    def forward(self, hidden, steps):
        for _ in range(steps):
            probabilities = F.softmax(self.head(hidden), dim=-1)
            hidden = F.embedding(probabilities, self.embed.weight)  # expect: ML102
        return hidden
